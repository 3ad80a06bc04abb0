#include "core/dgp/moments/moment_model.h"

#include <cmath>
#include <utility>

#include "core/kernel/stationary.h"
#include "core/linalg/packed.h"

namespace fidelio {

using Eigen::Index;

MomentModel::MomentModel(ScaledData scaled, Recipe chosen, std::shared_ptr<const FirstLayer> layer)
    : data(std::move(scaled)),
      recipe(std::move(chosen)),
      first(std::move(layer)),
      layout(recipe, data.dimension(), data.learn_noise, first->is_learned()),
      trend_pairs(data.levels()) {
  for (int t = 0; t < data.levels(); ++t)
    copies.push_back(FindEqualRows(data.x.middleRows(data.offset[t], data.count(t))));
  if (!recipe.trend) return;
  for (int t = 0; t < data.levels(); ++t) {
    const Matrix x = data.x.bottomRows(data.rest(t));
    const Matrix trend = TrendKernel(x, x);
    if (t == 0) trend_diagonal = trend.diagonal();
    PackPairs(trend, 1, trend_pairs[t]);
  }
}

Matrix MomentModel::TrendKernel(const Matrix& a, const Matrix& b) const {
  Matrix p = 12.0 / data.dimension() * (a.array() - 0.5).matrix() * (b.array() - 0.5).matrix().transpose();
  if (recipe.trend_curvature > 0) p.array() += recipe.trend_curvature * p.array().square();
  return p;
}

Vector MomentModel::TrendDiagonal(const Matrix& x) const {
  Vector p = 12.0 / data.dimension() * (x.array() - 0.5).square().rowwise().sum();
  p.array() += recipe.trend_curvature * p.array().square();
  return p;
}

Matrix MomentModel::TrendInputs(const Matrix& x) const {
  return std::sqrt(12.0 / data.dimension()) * (x.array() - 0.5).matrix();
}

void MomentModel::AddTrendGradient(const Matrix& x, double amplitude, int level, const QueryMoments& bar,
                                   Matrix& x_bar) const {
  const double scale = 12.0 / data.dimension(), curvature = recipe.trend_curvature;
  const Matrix points = data.x.bottomRows(data.rest(level)).array() - 0.5;
  const Matrix centred = x.array() - 0.5;
  const Matrix slope = 1 + 2 * curvature * scale * (points * centred.transpose()).array();  // of p + c p²
  x_bar.noalias() += amplitude * scale * bar.cross.cwiseProduct(slope).transpose() * points;
  const Vector own = 1 + 2 * curvature * scale * centred.rowwise().squaredNorm().array();
  x_bar += (2 * amplitude * scale) * bar.variance.cwiseProduct(own).asDiagonal() * centred;
}

Vector MomentModel::Lean(const ConstVectorRef& theta) const {
  if (!layout.learns_first()) return Vector::Zero(data.dimension());
  return recipe.tie * (theta.segment(layout.first.lengthscale, data.dimension()).array() - layout.lengthscale_centre);
}

Vector MomentModel::RhoLengthscales(const ConstVectorRef& theta, int level) const {
  return (theta.segment(layout.upper[level - 1].rho_lengthscale, data.dimension()) + Lean(theta)).array().exp();
}

Vector MomentModel::DeltaLengthscales(const ConstVectorRef& theta, int level) const {
  return (theta.segment(layout.upper[level - 1].delta_lengthscale, data.dimension()) + Lean(theta)).array().exp();
}

LinkScalars MomentModel::Scalars(const ConstVectorRef& theta, int level) const {
  const UpperLayerOffsets& o = layout.upper[level - 1];
  LinkScalars scalars{
      .terms = {}, .delta = std::exp(theta[o.delta]), .rho = theta[o.rho], .trend = Trend(theta, level)};
  SetLinkTerms(theta, o.terms, scalars.terms);
  return scalars;
}

double MomentModel::Offset(const ConstVectorRef& theta, int level) const {
  return std::exp(theta[layout.upper[level - 1].offset]);
}

double MomentModel::LearnedNoise(const ConstVectorRef& theta, int level) const {
  const int at = layout.noise[level];
  return recipe.noise_floor + (at < 0 ? 0 : std::exp(2 * theta[at]));
}

double MomentModel::Trend(const ConstVectorRef& theta, int level) const {
  const int at = layout.trend[level];
  return at < 0 ? 0 : std::exp(theta[at]);
}

MomentQueries::MomentQueries(const MomentModel& model, Matrix scaled_x, QueryMoments given_moments, Matrix covariance)
    : x(std::move(scaled_x)), given(std::move(given_moments)), given_covariance(std::move(covariance)) {
  if (!model.recipe.trend) return;
  trend = model.TrendKernel(model.data.x, x);
  trend_diagonal = model.TrendDiagonal(x);
}

MomentQueries MomentQueries::Rows(Index begin, Index count) const {
  MomentQueries some;
  some.x = x.middleRows(begin, count);
  if (given.mean.size() > 0) {
    some.given = {.cross = given.cross.middleCols(begin, count),
                  .mean = given.mean.segment(begin, count),
                  .variance = given.variance.segment(begin, count)};
  }
  if (trend_diagonal.size() == 0) return some;
  some.trend = trend.middleCols(begin, count);
  some.trend_diagonal = trend_diagonal.segment(begin, count);
  return some;
}

}  // namespace fidelio
