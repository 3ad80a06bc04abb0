#include "core/gp/sparse_layer.h"

#include <cmath>

#include "core/gp/whitening.h"

namespace fidelio {

using Eigen::Index;

void SparseLayer::Forward(const Matrix& a, const Vector& diagonal, const Vector& m, const Matrix& s, int threads) {
  threads_ = threads;
  a_ = &a;
  m_ = &m;
  s_ = &s;
  half_.resize(a.rows(), a.cols());
  LargeMultiply(threads, {.a = Part::kUpper}, 1, s.transpose(), a, Write::kSet, half_);
  mean_.noalias() = a.transpose() * m;
  variance_ = (diagonal.array() - a.colwise().squaredNorm().transpose().array()).max(0).matrix() +
              half_.colwise().squaredNorm().transpose();
  divergence_ = 0.5 * (s.squaredNorm() + m.squaredNorm() - static_cast<double>(m.size())) -
                s.diagonal().array().abs().log().sum();
}

void SparseLayer::Reverse(const Vector& mean_bar, const Vector& variance_bar, Matrix& a_bar, Vector& m_bar,
                          Matrix& s_bar) {
  const Matrix& a = *a_;
  const Matrix& s = *s_;
  const Index m = a.rows();
  m_bar = a * mean_bar - *m_;
  half_ *= (2 * variance_bar).asDiagonal();  // all that follows has this factor
  a_bar.resize(m, a.cols());
  LargeMultiply(threads_, {.a = Part::kLower}, 1, s, half_, Write::kSet, a_bar);
  for (Index p = 0; p < a.cols(); ++p) a_bar.col(p) += mean_bar[p] * *m_ - (2 * variance_bar[p]) * a.col(p);
  s_bar.resize(m, m);
  LargeMultiply(threads_, {.c = Part::kLower}, 1, a, half_.transpose(), Write::kSet, s_bar);
  s_bar.triangularView<Eigen::StrictlyUpper>().setZero();
  s_bar -= s;
  s_bar.diagonal() += s.diagonal().cwiseInverse();
}

}  // namespace fidelio
