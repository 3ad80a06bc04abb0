// MomentModel: everything about a moment-matched MF-DGP that does not change with its hyperparameters.
#ifndef FIDELIO_CORE_DGP_MOMENTS_MOMENT_MODEL_H_
#define FIDELIO_CORE_DGP_MOMENTS_MOMENT_MODEL_H_

#include <memory>
#include <vector>

#include "core/base/equal_rows.h"
#include "core/base/types.h"
#include "core/data/scaled_data.h"
#include "core/dgp/moments/first_layer.h"
#include "core/dgp/moments/moment_layout.h"
#include "core/dgp/moments/recipe.h"
#include "core/kernel/link_kernel.h"

namespace fidelio {

struct MomentModel {
  ScaledData data;
  Recipe recipe;
  std::shared_ptr<const FirstLayer> first;
  MomentLayout layout;
  std::vector<Eigen::ArrayXd> trend_pairs;  // per level, packed TrendKernel of the points of levels ≥ t; empty without
  Vector trend_diagonal;                    // N
  std::vector<EqualRows> copies;            // per level: its observations with equal inputs

  // Of a GivenLayer, level 0 of the data is empty.
  MomentModel(ScaledData scaled, Recipe chosen,
              std::shared_ptr<const FirstLayer> layer = std::make_shared<const LearnedLayer>());

  // The hyperparameters of a level, out of θ.
  // What upper lengthscales lean on, as a logarithm; 0 where layer 1 is given.
  Vector Lean(const ConstVectorRef& theta) const;
  Vector RhoLengthscales(const ConstVectorRef& theta, int level) const;
  Vector DeltaLengthscales(const ConstVectorRef& theta, int level) const;
  LinkScalars Scalars(const ConstVectorRef& theta, int level) const;
  double Offset(const ConstVectorRef& theta, int level) const;        // va
  double LearnedNoise(const ConstVectorRef& theta, int level) const;  // variance with the floor, without given noise
  double Trend(const ConstVectorRef& theta, int level) const;         // 0 without trend

  // The polynomial trend's kernel with unit amplitude: p + curvature·p², p = 12/D·x̃·x̃', x̃ = x − ½ (so that p(x,x) is 1
  // on average over the box).
  Matrix TrendKernel(const Matrix& a, const Matrix& b) const;
  Vector TrendDiagonal(const Matrix& x) const;
  // z with p(x, x') = z·z'.
  Matrix TrendInputs(const Matrix& x) const;
  // Given ∂F/∂ a level's prior moments at queries x: adds what flows through amplitude·TrendKernel to x_bar.
  void AddTrendGradient(const Matrix& x, double amplitude, int level, const QueryMoments& bar, Matrix& x_bar) const;
};

// Query points, with what does not change with the hyperparameters either.
struct MomentQueries {
  Matrix x;               // M×D, scaled
  Matrix trend;           // TrendKernel of the N data points and these, N×M; empty without trend
  Vector trend_diagonal;  // M; empty without trend

  QueryMoments given;       // of f_0, where the model's first layer is given
  Matrix given_covariance;  // M×M, only for joint posteriors

  MomentQueries(const MomentModel& model, Matrix scaled_x, QueryMoments given_moments = {}, Matrix covariance = {});

  // Some of them.
  MomentQueries Rows(Eigen::Index begin, Eigen::Index count) const;

 private:
  MomentQueries() = default;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_MOMENT_MODEL_H_
