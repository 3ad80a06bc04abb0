// The checkpoint of a NeighbourDgp, version 3 (the envelope is in core/base/bytes.h). Payload, in this order:
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
#include "core/neighbour/neighbour_dgp_impl.h"

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
    if (!IsKernelFamily(recipe.kernel) || recipe.links.empty()) {
      return absl::DataLossError("checkpoint holds a structure that this program does not know");
    }
  }
  for (const MomentDraw& draw : draws) {
    if (draw.structure >= 0 && draw.structure < static_cast<int>(recipes.size()) && std::isfinite(draw.weight) &&
        draw.theta.size() ==
            UpperPoints::Layout(recipes[draw.structure], data.dimension(), learn_noise).parameters.size()) {
      continue;
    }
    return absl::DataLossError(
        absl::StrFormat("checkpoint holds a draw of structure %d with %d parameters, which no structure has",
                        draw.structure, draw.theta.size()));
  }
  return absl::OkStatus();
}

}  // namespace

// The mean over the draws, each by itself, of the squared standardised residuals.
Inflation NeighbourDgp::Impl::InflationBefore3() const {
  if (upper == nullptr) return UnshrunkInflation(MeanSquaredResidual(LeftOutAtTop()));
  double residual = 0;
  for (size_t i = 0; i < draws.size(); ++i) {
    residual += draws[i].weight * posteriors[i].leave_one_out(OwnLevel(levels() - 1));
  }
  return UnshrunkInflation(residual);
}

std::string NeighbourDgp::Save() const {
  ByteWriter out;
  WriteDataset(impl_->data, out);
  WriteScaling(impl_->scaling, out);
  out.U32(static_cast<uint32_t>(impl_->stack->neighbours()));
  out.U32(static_cast<uint32_t>(impl_->stack->centres()));
  out.U64(static_cast<uint64_t>(impl_->stacked()));
  for (const NeighbourLayer& layer : impl_->layers()) {
    out.U32(static_cast<uint32_t>(layer.kernel));
    out.Write(layer.theta);
  }
  out.U64(impl_->structures.size());
  for (const auto& structure : impl_->structures) WriteRecipe(structure->recipe, out);
  out.U64(impl_->draws.size());
  for (const MomentDraw& draw : impl_->draws) {
    out.U32(static_cast<uint32_t>(draw.structure));
    out.F64(draw.weight);
    out.Write(draw.theta);
  }
  WriteReport(impl_->report, out);
  WriteInflation(impl_->inflation, out);
  return out.Seal(kNeighbourDgpKind, kVersion);
}

absl::StatusOr<std::unique_ptr<NeighbourDgp>> NeighbourDgp::Load(absl::string_view bytes) {
  FIDELIO_ASSIGN_OR_RETURN(
      ByteReader::Opened opened,
      ByteReader::Open(bytes, kNeighbourDgpKind, kVersion, "checkpoint of an MF-DGP model with neighbour layers"));
  ByteReader& in = opened.reader;
  Dataset data = ReadDataset(in);
  const Scaling scaling = ReadScaling(in);
  const uint32_t neighbours = in.U32(), centres = opened.version >= 2 ? in.U32() : 0;
  std::vector<NeighbourLayer> layers;
  const uint64_t layer_count = in.U64();
  for (uint64_t t = 0; t < layer_count && in.ok(); ++t) {
    NeighbourLayer layer;
    layer.kernel = static_cast<KernelFamily>(in.U32());
    layer.theta = in.ReadVector();
    layers.push_back(std::move(layer));
  }
  std::vector<Recipe> recipes;
  const uint64_t recipe_count = in.U64();
  for (uint64_t k = 0; k < recipe_count && in.ok(); ++k) recipes.push_back(ReadRecipe(in));
  std::vector<MomentDraw> draws;
  const uint64_t draw_count = in.U64();
  for (uint64_t i = 0; i < draw_count && in.ok(); ++i) {
    MomentDraw draw;
    draw.structure = static_cast<int>(in.U32());
    draw.weight = in.F64();
    draw.theta = in.ReadVector();
    draws.push_back(std::move(draw));
  }
  const FitReport report = ReadReport(in, opened.version >= 3);
  const Inflation inflation = opened.version >= 3 ? ReadInflation(in) : Inflation();
  FIDELIO_RETURN_IF_ERROR(in.Finish());
  if (const absl::Status status = Validate(data); !status.ok()) {
    return absl::DataLossError(absl::StrFormat("checkpoint holds invalid data: %s", status.message()));
  }
  FIDELIO_RETURN_IF_ERROR(CheckScaling(scaling, data.dimension()));
  FIDELIO_RETURN_IF_ERROR(CheckLayers(layers, data));
  FIDELIO_RETURN_IF_ERROR(CheckDraws(draws, recipes, data, layers.size()));
  FIDELIO_RETURN_IF_ERROR(CheckInflation(inflation));
  if (neighbours < 1 || neighbours > (1u << 20) || centres > (1u << 16)) {
    return absl::DataLossError(
        absl::StrFormat("checkpoint holds a stack of %d neighbours and %d centres", neighbours, centres));
  }
  auto stack = Impl::BuildStack(data, scaling, static_cast<int>(neighbours), static_cast<int>(centres), layers,
                                /*threads=*/0);
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<Impl> impl,
                           Impl::Build(std::move(data), scaling, std::move(stack), recipes, std::move(draws), report,
                                       /*threads=*/0));
  impl->Inflate(opened.version >= 3 ? inflation : impl->InflationBefore3());
  return std::unique_ptr<NeighbourDgp>(new NeighbourDgp(std::move(impl)));
}

}  // namespace fidelio
