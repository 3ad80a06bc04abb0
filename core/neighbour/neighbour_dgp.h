// The multi-fidelity deep Gaussian process for levels with very many observations, inference NEIGHBOURS.
//
// The levels up to the highest large one are a NeighbourStack: each looks at the nearest observations of an input only (in three
// and more dimensions level 0 has a LowRankPart beside them), with hyperparameters at their most probable values (many
// observations leave little doubt). It gives mean, variance and
// covariance of its highest level to the levels above, which are those of MOMENTS: exact conditioning on few observations,
// moment matching from level to level, hyperparameters averaged by HMC up to 300 observations; beyond, the most
// probable values under several kernel families are averaged (core/emulator/stacking_weights.h). Time and memory are near-linear in
// the number of observations of a large level.
//
// Predictions of a large level use the data of its own and lower levels, and, at the highest large level, those of the levels
// above it. Where large levels are stacked, JointMomentsAt takes different large levels below the highest as independent.
#ifndef FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_DGP_H_
#define FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_DGP_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/export.h"
#include "core/emulator/fitted_emulator.h"

namespace fidelio {

// Kinds of sealed bytes (core/base/bytes.h).
inline constexpr uint32_t kNeighbourDgpKind = 50;
inline constexpr uint32_t kNeighbourDgpFitKind = 51;

inline constexpr int kDefaultNeighbours = 32;  // used by a layer, by default

// A level with more observations than this has a neighbour layer; level 0 always has one.
inline constexpr int kLargeLevel = 1500;

// What Save() of such a model wrote; predicts the same bits on the same machine. DATA_LOSS or INVALID_ARGUMENT otherwise.
FIDELIO_EXPORT absl::StatusOr<std::unique_ptr<FittedEmulator>> LoadNeighbourDgp(absl::string_view bytes);

// Such a model with the same hyperparameters and another number of neighbours (≥ 1): with all of them, the exact model that it
// approximates (LowRankPart is not needed then).
FIDELIO_EXPORT absl::StatusOr<std::unique_ptr<FittedEmulator>> WithNeighbours(const Emulator& model, int neighbours,
                                                                              int threads);

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_DGP_H_
