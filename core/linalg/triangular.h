// Products of which half is known to be zero or not needed, in column blocks: about as fast per flop as a full product,
// with up to half of the flops.
#ifndef FIDELIO_CORE_LINALG_TRIANGULAR_H_
#define FIDELIO_CORE_LINALG_TRIANGULAR_H_

#include <algorithm>

#include "core/base/types.h"

namespace fidelio {

inline constexpr Eigen::Index kColumnBlock = 24;

// out = a·l for a lower triangular l (strict upper triangle zero).
template <typename A, typename L, typename Out>
void TimesLower(const A& a, const L& l, Out&& out) {
  const Eigen::Index n = l.rows();
  for (Eigen::Index j = 0; j < n; j += kColumnBlock) {
    const Eigen::Index width = std::min(kColumnBlock, n - j);
    out.middleCols(j, width).noalias() = a.rightCols(n - j) * l.block(j, j, n - j, width);
  }
}

// out = a·lᵀ for a lower triangular l (strict upper triangle zero).
template <typename A, typename L, typename Out>
void TimesLowerTransposed(const A& a, const L& l, Out&& out) {
  const Eigen::Index n = l.rows();
  for (Eigen::Index j = 0; j < n; j += kColumnBlock) {
    const Eigen::Index width = std::min(kColumnBlock, n - j);
    out.middleCols(j, width).noalias() = a.leftCols(j + width) * l.block(j, 0, width, j + width).transpose();
  }
}

// out = l·a for a lower triangular l (strict upper triangle zero).
template <typename L, typename A, typename Out>
void LowerTimes(const L& l, const A& a, Out&& out) {
  const Eigen::Index n = l.rows();
  for (Eigen::Index j = 0; j < n; j += kColumnBlock) {
    const Eigen::Index width = std::min(kColumnBlock, n - j);
    out.middleRows(j, width).noalias() = l.block(j, 0, width, j + width) * a.topRows(j + width);
  }
}

// Lower triangle of out += a·b (the strict upper triangle becomes scratch).
template <typename A, typename B, typename Out>
void AddToLower(const A& a, const B& b, Out&& out) {
  const Eigen::Index n = out.rows();
  for (Eigen::Index j = 0; j < n; j += kColumnBlock) {
    const Eigen::Index width = std::min(kColumnBlock, n - j);
    out.block(j, j, n - j, width).noalias() += a.bottomRows(n - j) * b.middleCols(j, width);
  }
}

// Lower triangle of out −= a·aᵀ (the strict upper triangle becomes scratch).
template <typename A, typename Out>
void SubtractGram(const A& a, Out&& out) {
  const Eigen::Index n = out.rows();
  for (Eigen::Index j = 0; j < n; j += kColumnBlock) {
    const Eigen::Index width = std::min(kColumnBlock, n - j);
    out.block(j, j, n - j, width).noalias() -= a.bottomRows(n - j) * a.middleRows(j, width).transpose();
  }
}

}  // namespace fidelio

#endif  // FIDELIO_CORE_LINALG_TRIANGULAR_H_
