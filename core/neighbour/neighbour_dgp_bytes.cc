// The checkpoint of an MF-DGP with neighbour layers, version 3 (the envelope is in core/base/bytes.h). Payload, in this order:
//
//   data         as in core/data/dataset_bytes.h
//   scaling      as in core/data/scaling_bytes.h
//   stack        u32 neighbours; u32 centres (none in version 1); u64 layers; per layer u32 kernel, vector θ
//   structures   u64 count; recipes as in core/dgp/moments/recipe_bytes.h
//   draws        u64 count; per draw u32 structure, f64 weight, vector θ
//   report       as in core/emulator/report_bytes.h, without its second part before version 3
//   f64 inflation, bool of given noise (neither before version 3)
//
// Everything else, trees included, is computed from these when a checkpoint is loaded.
#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/bytes.h"
#include "core/base/status_macros.h"
#include "core/data/dataset_bytes.h"
#include "core/data/scaling_bytes.h"
#include "core/dgp/moments/recipe_bytes.h"
#include "core/emulator/inflation.h"
#include "core/emulator/report_bytes.h"
#include "core/neighbour/neighbour_dgp_posterior.h"

namespace fidelio {
namespace {

constexpr uint32_t kVersion = 3;

absl::Status CheckLayers(const std::vector<NeighbourLayer>& layers, const Dataset& data) {
  if (layers.empty() || layers.size() > data.levels.size()) {
    return absl::DataLossError(
        absl::StrFormat("checkpoint holds %d layers for %d levels", layers.size(), data.levels.size()));
  }
  for (size_t t = 0; t < layers.size(); ++t) {
    const NeighbourLayout layout(data.dimension(), t == 0, data.levels[t].noise_variance.size() == 0);
    if (IsKernelFamily(layers[t].kernel) && layers[t].theta.size() == layout.parameters.size() &&
        layers[t].theta.allFinite()) {
      continue;
    }
    return absl::DataLossError(absl::StrFormat("checkpoint holds a layer of level %d with kernel %d and %d parameters",
                                               t, static_cast<uint32_t>(layers[t].kernel), layers[t].theta.size()));
  }
  return absl::OkStatus();
}

absl::Status CheckDraws(const std::vector<MomentDraw>& draws, const std::vector<Recipe>& recipes, const Dataset& data,
                        size_t stacked) {
  if (stacked == data.levels.size()) return absl::OkStatus();
  if (draws.empty()) return absl::DataLossError("checkpoint holds no draws");
  std::vector<bool> learn_noise = {false};
  for (size_t t = stacked; t < data.levels.size(); ++t) {
    learn_noise.push_back(data.levels[t].noise_variance.size() == 0);
  }
  for (const Recipe& recipe : recipes) {
    if (!IsKernelFamily(recipe.kernel) || recipe.links.empty() || recipe.first_level != 0) {
      return absl::DataLossError("checkpoint holds a structure that this program does not know");
    }
  }
  for (const MomentDraw& draw : draws) {
    if (draw.structure >= 0 && draw.structure < static_cast<int>(recipes.size()) && std::isfinite(draw.weight) &&
        draw.theta.size() ==
            UpperPoints::Layout(recipes[draw.structure], data.dimension(), learn_noise).parameters.size()) {
      continue;
    }
    return UnknownDraw(draw);
  }
  return absl::OkStatus();
}

// As programs computed it that wrote version 2.
absl::StatusOr<double> ResidualBefore3(const FittedState& state, const NeighbourDgpPosterior& posterior) {
  const int top = static_cast<int>(state.data.levels.size()) - 1;
  if (posterior.mixture() != nullptr) return posterior.mixture()->MeanResidual(posterior.OwnLevel(top));
  FIDELIO_ASSIGN_OR_RETURN(const ObservedMixtures left_out, LeaveOut(state, posterior, top, /*threads=*/0));
  return MeanSquaredResidual(Summarise(left_out));
}

}  // namespace

std::string NeighbourDgpPosterior::Save(const FittedState& state) const {
  const NeighbourDgpParameters found = parameters();
  ByteWriter out;
  WriteDataset(state.data, out);
  WriteScaling(state.scaling, out);
  out(found.neighbours, found.centres, found.layers, found.recipes, found.draws);
  WriteReport(state.report, out);
  WriteInflation(state.inflation, out);
  return out.Seal(kNeighbourDgpKind, kVersion);
}

absl::StatusOr<std::unique_ptr<FittedEmulator>> LoadNeighbourDgp(absl::string_view bytes) {
  FIDELIO_ASSIGN_OR_RETURN(
      ByteReader::Opened opened,
      ByteReader::Open(bytes, kNeighbourDgpKind, kVersion, "checkpoint of an MF-DGP model with neighbour layers"));
  ByteReader& in = opened.reader;
  FittedState state;
  state.data = ReadDataset(in);
  state.scaling = ReadScaling(in);
  const uint32_t neighbours = in.U32(), centres = opened.version >= 2 ? in.U32() : 0;
  NeighbourDgpParameters found;
  in(found.layers, found.recipes, found.draws);
  state.report = ReadReport(in, opened.version >= 3);
  if (opened.version >= 3) state.inflation = ReadInflation(in);
  FIDELIO_RETURN_IF_ERROR(in.Finish());
  FIDELIO_RETURN_IF_ERROR(CheckLoaded(state));
  FIDELIO_RETURN_IF_ERROR(CheckLayers(found.layers, state.data));
  FIDELIO_RETURN_IF_ERROR(CheckDraws(found.draws, found.recipes, state.data, found.layers.size()));
  if (neighbours < 1 || neighbours > (1u << 20) || centres > (1u << 16)) {
    return absl::DataLossError(
        absl::StrFormat("checkpoint holds a stack of %d neighbours and %d centres", neighbours, centres));
  }
  found.neighbours = static_cast<int>(neighbours);
  found.centres = static_cast<int>(centres);
  FIDELIO_ASSIGN_OR_RETURN(auto posterior,
                           NeighbourDgpPosterior::Build(state.data, state.scaling, found, /*threads=*/0));
  if (opened.version < 3) {
    FIDELIO_ASSIGN_OR_RETURN(const double residual, ResidualBefore3(state, *posterior));
    state.inflation = UnshrunkInflation(residual);
  }
  return std::make_unique<FittedEmulator>(std::move(state), std::move(posterior));
}

}  // namespace fidelio
