#include "tests/bench/plain_dpp.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fidelio::bench {

using Eigen::Index;

Matrix LogElementarySymmetric(const Vector& values, int k) {
  const Index r = values.size();
  Matrix e = Matrix::Constant(k + 1, r + 1, -std::numeric_limits<double>::infinity());
  e.row(0).setZero();
  for (Index i = 1; i <= r; ++i) {
    const double log_value = std::log(values[i - 1]);
    for (int j = 1; j <= std::min<Index>(i, k); ++j) {
      const double without = e(j, i - 1), with = log_value + e(j - 1, i - 1), high = std::max(without, with);
      e(j, i) = high + std::log(std::exp(without - high) + std::exp(with - high));
    }
  }
  return e;
}

std::vector<int> PlainDraw(const Vector& values, const Matrix& vectors, const Matrix& log_elementary, int k,
                           Random& random) {
  std::vector<int> subset;
  for (Index i = values.size(), j = k; j > 0; --i) {
    const double log_with = std::log(values[i - 1]) + log_elementary(j - 1, i - 1);
    if (std::log(random.Uniform()) < log_with - log_elementary(j, i)) {
      subset.push_back(static_cast<int>(i - 1));
      --j;
    }
  }
  const Matrix y = vectors(Eigen::all, subset);
  Vector left = y.rowwise().squaredNorm();
  Matrix explained(y.rows(), k);
  std::vector<int> chosen;
  for (int t = 0; t < k; ++t) {
    double at = random.Uniform() * left.sum();
    Index i = 0;
    while (i + 1 < left.size() && (at -= left[i]) > 0) ++i;
    chosen.push_back(static_cast<int>(i));
    explained.col(t).noalias() = y * y.row(i).transpose();
    explained.col(t).noalias() -= explained.leftCols(t) * explained.row(i).head(t).transpose();
    explained.col(t) /= std::sqrt(left[i]);
    left = (left - explained.col(t).cwiseAbs2()).cwiseMax(0);
    for (const int before : chosen) left[before] = 0;
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

double DenseLogDeterminant(const Matrix& a) {
  using Long = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  Long l = a.cast<long double>();
  long double log_determinant = 0;
  for (Index j = 0; j < l.rows(); ++j) {
    const long double pivot = l(j, j) - l.row(j).head(j).squaredNorm();
    if (!(pivot > 0)) return std::numeric_limits<double>::quiet_NaN();
    const Index below = l.rows() - 1 - j;
    l(j, j) = std::sqrt(pivot);
    l.col(j).tail(below) -= l.bottomLeftCorner(below, j) * l.row(j).head(j).transpose();
    l.col(j).tail(below) /= l(j, j);
    log_determinant += std::log(pivot);
  }
  return static_cast<double>(log_determinant);
}

}  // namespace fidelio::bench
