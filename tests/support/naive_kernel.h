// Kernels over inputs by their formulas, one pair of points at a time.
#ifndef FIDELIO_TESTS_SUPPORT_NAIVE_KERNEL_H_
#define FIDELIO_TESTS_SUPPORT_NAIVE_KERNEL_H_

#include <cmath>

#include "core/base/types.h"
#include "core/kernel/kernel_family.h"

namespace fidelio {

// κ of the distance r ≥ 0, as in textbooks (Rasmussen and Williams 2006, 4.2).
inline double NaiveKernel(KernelFamily family, double r) {
  switch (family) {
    case KernelFamily::kRbf:
      return std::exp(-r * r / 2);
    case KernelFamily::kMatern12:
      return std::exp(-r);
    case KernelFamily::kMatern32:
      return (1 + std::sqrt(3.0) * r) * std::exp(-std::sqrt(3.0) * r);
    case KernelFamily::kMatern52:
      return (1 + std::sqrt(5.0) * r + 5 * r * r / 3) * std::exp(-std::sqrt(5.0) * r);
  }
  return NAN;
}

// κ between all rows of a and of b, with one lengthscale per column.
inline Matrix NaiveKernelMatrix(KernelFamily family, const Matrix& a, const Matrix& b, const Vector& lengthscales) {
  Matrix k(a.rows(), b.rows());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index j = 0; j < b.rows(); ++j) {
      double s = 0;
      for (Eigen::Index d = 0; d < a.cols(); ++d) s += std::pow((a(i, d) - b(j, d)) / lengthscales[d], 2);
      k(i, j) = NaiveKernel(family, std::sqrt(s));
    }
  }
  return k;
}

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_NAIVE_KERNEL_H_
