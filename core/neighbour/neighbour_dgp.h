// NeighbourDgp: the multi-fidelity deep Gaussian process for levels with very many observations, inference NEIGHBOURS.
//
// The levels up to the highest large one are a NeighbourStack: each looks at the nearest observations of an input only (in three
// and more dimensions level 0 has a LowRankPart beside them), with hyperparameters at their most probable values (many
// observations leave little doubt). It gives mean, variance and
// covariance of its highest level to the levels above, which are those of MfDgp: exact conditioning on few observations,
// moment matching from level to level, hyperparameters averaged by HMC up to 300 observations; beyond, the most
// probable values under several kernel families are averaged (core/emulator/stacking_weights.h). Time and memory are near-linear in the number of observations of a large level.
//
// Predictions of a large level use the data of its own and lower levels, and, at the highest large level, those of the levels
// above it. Where large levels are stacked, JointMomentsAt takes different large levels below the highest as independent.
// Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_DGP_H_
#define FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_DGP_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/export.h"
#include "core/data/dataset.h"
#include "core/emulator/emulator.h"
#include "core/emulator/fit_options.h"
#include "core/emulator/mixture_emulator.h"

namespace fidelio {

// Kinds of sealed bytes (core/base/bytes.h).
inline constexpr uint32_t kNeighbourDgpKind = 50;
inline constexpr uint32_t kNeighbourDgpFitKind = 51;

inline constexpr int kDefaultNeighbours = 32;  // used by a layer, by default

// A level with more observations than this has a neighbour layer; level 0 always has one.
inline constexpr int kLargeLevel = 1500;

// At most this many observations of a large level are left out one by one, evenly chosen from all.
inline constexpr int kMostLeftOut = 1000;

class FIDELIO_EXPORT NeighbourDgp final : public MixtureEmulator {
 public:
  ~NeighbourDgp() override;

  // What Save() wrote; predicts the same bits on the same machine. DATA_LOSS or INVALID_ARGUMENT otherwise.
  static absl::StatusOr<std::unique_ptr<NeighbourDgp>> Load(absl::string_view bytes);

  int levels() const override;
  int input_dimension() const override;
  absl::StatusOr<Prediction> Predict(const Matrix& x, const PredictOptions& options) const override;
  absl::StatusOr<Mixture> PredictMixture(const Matrix& x, const PredictOptions& options) const override;
  // The neighbours of an input count as fixed.
  absl::StatusOr<Matrix> MixtureGradient(const Matrix& x, const Matrix& mean_bar, const Matrix& variance_bar,
                                         const PredictOptions& options) const override;
  absl::StatusOr<Vector> LogDensity(const Matrix& x, const Vector& y, const PredictOptions& options) const override;
  absl::StatusOr<JointPosterior> JointMomentsAt(const Matrix& x, const std::vector<int>& levels,
                                                const PredictOptions& options) const override;
  absl::StatusOr<Matrix> SamplePaths(const Matrix& x, const SampleOptions& options) const override;
  absl::StatusOr<std::unique_ptr<PathSamples>> DrawPaths(const PathOptions& options) const override;
  // Of a large level, kMostLeftOut observations.
  absl::StatusOr<std::vector<ObservedMixtures>> LeaveOneOutMixtures() const override;
  absl::StatusOr<std::vector<LeaveOneOut>> LeaveOneOutPredictions() const override;
  // A NeighbourDgp with the same hyperparameters. Takes the time to build trees of the observations: about a second for a
  // million.
  absl::StatusOr<std::unique_ptr<Emulator>> Condition(const Dataset& data, int threads) const override;
  std::string Save() const override;

  // The same hyperparameters with another number of neighbours (≥ 1): with all of them, the exact model that this one
  // approximates (LowRankPart is not needed then).
  absl::StatusOr<std::unique_ptr<NeighbourDgp>> WithNeighbours(int neighbours, int threads) const;

  uint32_t checkpoint_kind() const override { return kNeighbourDgpKind; }
  const FitReport& report() const override;
  const Dataset& data() const override;
  int64_t MemoryBytes() const override;

 private:
  friend class NeighbourDgpFit;
  class Paths;
  struct Impl;
  explicit NeighbourDgp(std::unique_ptr<const Impl> impl);

  std::unique_ptr<const Impl> impl_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_DGP_H_
