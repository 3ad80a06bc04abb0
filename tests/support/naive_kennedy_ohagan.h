// The Kennedy–O'Hagan model with its exact joint distribution: one Gaussian over all observations of all levels and over
// the query points at every level. What a moment-matched MF-DGP with linear links must equal.
//
//   f_t = ρ_t f_{t−1} + (1−ρ_t) z + δ_t     ⇒     cov(f_s(x), f_t(x')) = ρ_{s+1}…ρ_t · V_s(x,x')   for s ≤ t
//   V_t = ρ_t² V_{t−1} + cov δ_t
#ifndef FIDELIO_TESTS_SUPPORT_NAIVE_KENNEDY_OHAGAN_H_
#define FIDELIO_TESTS_SUPPORT_NAIVE_KENNEDY_OHAGAN_H_

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/types.h"
#include "core/data/scaled_data.h"
#include "core/dgp/moments/recipe.h"
#include "tests/support/naive_conditioning.h"
#include "tests/support/naive_moments.h"
#include "tests/support/named_parameters.h"

namespace fidelio {

struct NaiveKennedyOhagan {
  double log_likelihood;
  std::vector<Vector> mean, variance;  // per level, at the queries, given the data of all levels
  std::vector<Matrix> covariance;      // per level, of the queries
};

// Under one link; s2 and vf are taken to be 0.
inline NaiveKennedyOhagan RunNaiveKennedyOhagan(const ScaledData& data, const Recipe& recipe, const Link& link,
                                                const NamedParameters& p, const Matrix& queries) {
  using Eigen::Index;
  const NaiveInputs inputs(recipe, p);
  const int levels = data.levels();
  const Index total = data.x.rows(), m = queries.rows(), size = total + levels * m;
  // All variables: the observed points, then the queries at level 0, 1, …
  Matrix x(size, data.x.cols());
  std::vector<int> level(size);
  x.topRows(total) = data.x;
  Vector noise(total);
  for (int t = 0; t < levels; ++t) {
    for (int i = data.offset[t]; i < data.offset[t + 1]; ++i) level[i] = t;
    noise.segment(data.offset[t], data.count(t)) = inputs.Noise(data, t);
    x.middleRows(total + t * m, m) = queries;
    for (Index i = 0; i < m; ++i) level[total + t * m + i] = t;
  }
  std::vector<Matrix> v = {inputs.First(x)};
  Vector rho = Vector::Ones(levels), mean_of_level = Vector::Constant(levels, p.Scalar("mu0"));
  for (int t = 1; t < levels; ++t) {
    const LinkScalars s = inputs.Scalars(t);
    rho[t] = s.rho;
    mean_of_level[t] = s.rho * mean_of_level[t - 1] + (1 - s.rho) * (link.raw_zero ? data.raw_zero : 0);
    Matrix next = s.rho * s.rho * v.back() + s.delta * inputs.Delta(x, t) + s.trend * inputs.Trend(x);
    if (link.offset) next.array() += inputs.Exp("va" + std::to_string(t));
    v.push_back(next);
  }
  Matrix k(size, size);
  Vector mean(size);
  for (Index i = 0; i < size; ++i) {
    mean[i] = mean_of_level[level[i]];
    for (Index j = 0; j < size; ++j) {
      const int low = std::min(level[i], level[j]), high = std::max(level[i], level[j]);
      k(i, j) = v[low](i, j) * rho.segment(low + 1, high - low).prod();
    }
  }
  const NaiveConditioned given = NaiveCondition(k, mean, data.y, noise);
  NaiveKennedyOhagan result{.log_likelihood = given.log_likelihood, .mean = {}, .variance = {}, .covariance = {}};
  for (int t = 0; t < levels; ++t) {
    result.mean.push_back(given.mean.segment(t * m, m));
    result.variance.push_back(given.covariance.diagonal().segment(t * m, m));
    result.covariance.push_back(given.covariance.block(t * m, t * m, m, m));
  }
  return result;
}

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_NAIVE_KENNEDY_OHAGAN_H_
