#include "core/kernel/stationary.h"

namespace fidelio {

using Eigen::ArrayXd;
using Eigen::Index;

void PairDistances(const Matrix& a, ArrayXd& s) {
  const Index n = a.rows();
  s.resize(PairCount(n));
  for (Index j = 0, at = 0; j + 1 < n; at += n - 1 - j, ++j) {
    const Index below = n - 1 - j;
    auto column = s.segment(at, below);
    column = (a.col(0).tail(below).array() - a(j, 0)).square();
    for (Index d = 1; d < a.cols(); ++d) column += (a.col(d).tail(below).array() - a(j, d)).square();
  }
}

void EvaluateRadial(KernelFamily family, ArrayRef s, ArrayXd* derivative) {
  switch (family) {
    case KernelFamily::kRbf:
      s = (-0.5 * s).exp();
      if (derivative != nullptr) *derivative = -0.5 * s;
      return;
    case KernelFamily::kMatern32: {
      const ArrayXd r = (3.0 * s).sqrt();
      const ArrayXd e = (-r).exp();
      s = (1.0 + r) * e;
      if (derivative != nullptr) *derivative = -1.5 * e;
      return;
    }
    case KernelFamily::kMatern52: {
      const ArrayXd r = (5.0 * s).sqrt();
      const ArrayXd e = (-r).exp();
      s = (1.0 + r + r.square() / 3.0) * e;
      if (derivative != nullptr) *derivative = (-5.0 / 6.0) * (1.0 + r) * e;
      return;
    }
  }
}

void AccumulatePairInputGradient(const Matrix& a, const ArrayXd& w, Matrix& a_bar) {
  const Index n = a.rows();
  ArrayXd scratch(n);
  for (Index d = 0; d < a.cols(); ++d) {
    for (Index j = 0, at = 0; j + 1 < n; at += n - 1 - j, ++j) {
      const Index below = n - 1 - j;
      auto term = scratch.head(below);
      term = 2.0 * w.segment(at, below) * (a.col(d).tail(below).array() - a(j, d));
      a_bar.col(d).tail(below).array() += term;
      a_bar(j, d) -= term.sum();
    }
  }
}

void AccumulatePairLengthscaleGradient(const Matrix& a, const ArrayXd& w, Eigen::Ref<Vector> gradient) {
  const Index n = a.rows();
  for (Index d = 0; d < a.cols(); ++d) {
    double sum = 0;
    for (Index j = 0, at = 0; j + 1 < n; at += n - 1 - j, ++j) {
      const Index below = n - 1 - j;
      sum += (w.segment(at, below) * (a.col(d).tail(below).array() - a(j, d)).square()).sum();
    }
    gradient[d] -= 2 * sum;
  }
}

void CrossDistances(const Matrix& a, const Matrix& b, Matrix& s) {
  s.resize(a.rows(), b.rows());
  for (Index j = 0; j < b.rows(); ++j) {
    s.col(j).array() = (a.col(0).array() - b(j, 0)).square();
    for (Index d = 1; d < a.cols(); ++d) s.col(j).array() += (a.col(d).array() - b(j, d)).square();
  }
}

void AccumulateCrossInputGradient(const Matrix& a, const Matrix& b, const Matrix& w, Matrix& b_bar) {
  for (Index d = 0; d < a.cols(); ++d) {
    for (Index j = 0; j < b.rows(); ++j) {
      b_bar(j, d) -= 2 * (w.col(j).array() * (a.col(d).array() - b(j, d))).sum();
    }
  }
}

}  // namespace fidelio
