// EigenvalueSubset: k of r positive eigenvalues λ, a subset J with probability Π_{i∈J} λ_i / e_k(λ), where e_k is the
// elementary symmetric polynomial: the first half of a draw from a k-DPP (Kulesza & Taskar 2011).
//
// e_k overflows when k is in the hundreds. Here, with a scale α and p_i = αλ_i / (1 + αλ_i),
//
//   α^j e_j(λ_1..λ_i) = P(j of i independent coins with the probabilities p_1..p_i show heads) · Π_{m≤i} (1 + αλ_m)
//
// for every α; log α is chosen such that k heads of r are expected, which makes their probability at least about
// 1/√(2πk). All that is computed are such probabilities, by sums of products of positive numbers, from logarithms of
// eigenvalues over any number of orders of magnitude: nothing overflows, and what underflows could not have been drawn.
// Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_DESIGN_EIGENVALUE_SUBSET_H_
#define FIDELIO_CORE_DESIGN_EIGENVALUE_SUBSET_H_

#include <vector>

#include "core/base/random.h"
#include "core/base/types.h"

namespace fidelio {

class EigenvalueSubset {
 public:
  // Requires 1 ≤ k ≤ r and finite logarithms. O(r k) time and memory.
  EigenvalueSubset(const Vector& log_values, int k);

  // k indices, ascending.
  std::vector<int> Draw(Random& random) const;

  double LogRatio() const;  // log (e_{k−1} / e_k)

 private:
  // P(j heads of the first i).
  const double* Heads(int i) const { return heads_.data() + static_cast<size_t>(i) * (k_ + 1); }
  // P(coin i−1 shows head | j heads of the first i).
  double Head(int i, int j) const { return head_[i - 1] * Heads(i - 1)[j - 1] / Heads(i)[j]; }

  const int r_, k_;
  double log_scale_ = 0;  // log α
  std::vector<double> head_, heads_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DESIGN_EIGENVALUE_SUBSET_H_
