// The inside of a SparseMfDgp.
#ifndef FIDELIO_CORE_DGP_SPARSE_SPARSE_MF_DGP_IMPL_H_
#define FIDELIO_CORE_DGP_SPARSE_SPARSE_MF_DGP_IMPL_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/data/scaled_data.h"
#include "core/dgp/sparse/node_plan.h"
#include "core/dgp/sparse/sparse_mf_dgp.h"
#include "core/dgp/sparse/sparse_posterior.h"
#include "core/emulator/inflation.h"

namespace fidelio {

inline constexpr uint32_t kSparseMfDgpVersion = 2;

// Observations of the highest level up to which inflation is measured: with more, the time would not be small beside the fit's.
inline constexpr int kMostLeftOut = 4096;

struct SparseMfDgp::Impl {
  uint32_t kind = kVariationalMfDgpKind;
  Dataset data;
  FitReport report;
  Scaling scaling;
  SparsePosterior posterior;
  Inflation inflation;
  // Per level: mean of the given noise variances, 0 where none is given; divided by the inflation, which then leaves them as given.
  std::vector<double> given_noise;

  static absl::StatusOr<std::unique_ptr<Impl>> Build(uint32_t kind, Dataset data, Scaling scaling,
                                                     std::vector<SparseLayerState> layers, const FitReport& report);

  // body(first row, plan, scaled inputs) for the rows of x, some at a time.
  using BlockBody = std::function<void(Eigen::Index begin, const NodePlan& plan, const Matrix& x)>;
  void ForBlocks(const Matrix& x, int level, int threads, const BlockBody& body) const;

  // The mixture of a block in the user's units.
  Mixture PredictBlock(const SparsePosterior::Evaluation& at, const NodePlan& plan, int level,
                       bool include_noise) const;

  Vector NodeWeights(int level) const;                                     // of the mixture's components
  absl::StatusOr<ObservedMixtures> LeftOut(int level, int threads) const;  // in the user's units, not inflated
  // `otherwise`: where the highest level has too many observations to leave out. Once, as is Inflate.
  absl::Status InflateByLeftOut(int threads, const Inflation& otherwise);
  void Inflate(const Inflation& by);
  double InflationAt(int level) const { return level + 1 == posterior.levels() ? inflation.factor : 1; }

  // Noise of a new observation in the user's units, before inflation.
  double NoiseAt(int level) const {
    return posterior.layer(level).noise * scaling.output_sd * scaling.output_sd + given_noise[level];
  }
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_SPARSE_SPARSE_MF_DGP_IMPL_H_
