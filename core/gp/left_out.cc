#include "core/gp/left_out.h"

#include <Eigen/QR>
#include <cmath>

#include "core/base/normal.h"

namespace fidelio {
namespace {

using Eigen::Index;

Matrix GroupColumns(const ConstMatrixRef& inverse, int begin, const std::vector<int>& group) {
  Matrix columns = Matrix::Zero(inverse.rows(), static_cast<Index>(group.size()));
  for (size_t k = 0; k < group.size(); ++k) {
    const Index at = begin + group[k], below = inverse.rows() - at;  // above its diagonal, a column is not read
    columns.col(static_cast<Index>(k)).tail(below) = inverse.col(at).tail(below);
  }
  return columns;
}

}  // namespace

LeftOut LeaveOut(const ConstMatrixRef& inverse, const ConstVectorRef& whitened, const ConstVectorRef& alpha, int begin,
                 const CopyGroups& copies) {
  const Index n = inverse.cols() - begin;
  const Vector precision = inverse.colwise().squaredNorm().tail(n);
  LeftOut result{.error = alpha.tail(n).cwiseQuotient(precision),
                 .variance = precision.cwiseInverse(),
                 .squared = alpha.tail(n).cwiseAbs2().cwiseQuotient(precision),
                 .log_density = {}};
  if (copies.empty()) return result;
  result.log_density = -0.5 * (result.squared.array() + result.variance.array().log() + kLogTwoPi);
  for (const std::vector<int>& group : copies) {
    const Index size = static_cast<Index>(group.size());
    const Eigen::HouseholderQR<Matrix> qr(GroupColumns(inverse, begin, group));
    const auto r = qr.matrixQR().topRows(size).template triangularView<Eigen::Upper>();
    const Vector projected = (qr.householderQ().adjoint() * whitened).head(size);
    const Matrix root = r.solve(Matrix::Identity(size, size));  // R⁻¹, whose rows give the variances
    const Vector error = root * projected;
    const double log_density = -0.5 * (projected.squaredNorm() + static_cast<double>(size) * kLogTwoPi) +
                               qr.matrixQR().diagonal().head(size).array().abs().log().sum();
    for (Index k = 0; k < size; ++k) {
      const Index i = group[static_cast<size_t>(k)];
      result.error[i] = error[k];
      result.variance[i] = root.row(k).squaredNorm();
      result.squared[i] = error[k] * error[k] / result.variance[i];
      result.log_density[i] = log_density;
    }
  }
  return result;
}

Matrix LeftOutBasis(const ConstMatrixRef& inverse, const std::vector<int>& group) {
  const Matrix columns = GroupColumns(inverse, 0, group);
  if (group.size() == 1) return columns / columns.norm();
  return Eigen::HouseholderQR<Matrix>(columns).householderQ() * Matrix::Identity(columns.rows(), columns.cols());
}

SameInput Combine(const Vector& y, const Vector& noise) {
  const Eigen::ArrayXd precision = noise.array().inverse();
  SameInput one{.y = (precision * y.array()).sum() / precision.sum(), .noise = 1 / precision.sum()};
  one.log_density_within = -0.5 * ((precision * (y.array() - one.y).square()).sum() + noise.array().log().sum() -
                                   std::log(one.noise) + static_cast<double>(y.size() - 1) * kLogTwoPi);
  return one;
}

}  // namespace fidelio
