// Types that every part of core shares.
//
// Matrices are column-major doubles. A set of n inputs in d dimensions is an n×d matrix: one row per point.
#ifndef FIDELIO_CORE_BASE_TYPES_H_
#define FIDELIO_CORE_BASE_TYPES_H_

#include <Eigen/Core>

namespace fidelio {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using ConstMatrixRef = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;
using MatrixRef = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;
using ConstVectorRef = Eigen::Ref<const Vector>;

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASE_TYPES_H_
