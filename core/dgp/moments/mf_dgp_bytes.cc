// The checkpoint of an MF-DGP, version 3 (the envelope is in core/base/bytes.h). Payload, in this order:
//
//   data         as in core/data/dataset_bytes.h
//   structures   u64 count; per structure u32 first level, u32 kernel, bool warp, bool trend, f64 trend curvature, f64 noise floor, f64 tie,
//                f64 centre of layer 1's log lengthscales, u64 links, per link bool offset, bool raw zero, f64 weight;
//                the scaling of its data: vectors lowest input, width, f64 mean, f64 standard deviation of outputs (not in
//                version 1: that of the data; the same for all structures from version 3 on)
//   f64 inflation, bool of given noise (neither before version 3)
//   draws        u64 count; per draw u32 structure, f64 weight, vector θ
//   report       as in core/emulator/report_bytes.h, without its second part before version 3
//
// Everything else is computed from these when a checkpoint is loaded.
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "core/data/dataset_bytes.h"
#include "core/data/scaling_bytes.h"
#include "core/dgp/moments/mf_dgp_posterior.h"
#include "core/dgp/moments/output_units.h"
#include "core/dgp/moments/recipe_bytes.h"
#include "core/emulator/inflation.h"
#include "core/emulator/report_bytes.h"

namespace fidelio {

namespace {

absl::Status CheckRecipe(const Recipe& recipe, const Dataset& data) {
  if (recipe.first_level < 0 || recipe.first_level >= static_cast<int>(data.levels.size()) ||
      data.levels[recipe.first_level].y.size() == 0) {
    return absl::DataLossError(absl::StrFormat("a structure from level %d on, which has no data", recipe.first_level));
  }
  if (!IsKernelFamily(recipe.kernel)) {
    return absl::DataLossError(absl::StrFormat("unknown kernel family %d", static_cast<uint32_t>(recipe.kernel)));
  }
  if (recipe.links.empty()) return absl::DataLossError("a structure without links");
  return absl::OkStatus();
}

}  // namespace

std::string MfDgpPosterior::Save(const FittedState& state) const {
  ByteWriter out;
  WriteDataset(state.data, out);
  out.U64(mixture_.structures().size());
  for (const auto& structure : mixture_.structures()) {
    WriteRecipe(structure->recipe, out);
    WriteScaling(state.scaling, out);
  }
  WriteInflation(state.inflation, out);
  out(mixture_.draws());
  WriteReport(state.report, out);
  return out.Seal(kMfDgpKind, kMfDgpVersion);
}

absl::StatusOr<std::unique_ptr<FittedEmulator>> LoadMfDgp(absl::string_view bytes) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader::Opened opened,
                           ByteReader::Open(bytes, kMfDgpKind, kMfDgpVersion, "checkpoint of an MF-DGP model"));
  ByteReader& in = opened.reader;
  FittedState state;
  state.data = ReadDataset(in);
  std::vector<Recipe> recipes;
  std::vector<Scaling> scalings;  // none in version 1
  const uint64_t structure_count = in.U64();
  for (uint64_t k = 0; k < structure_count && in.ok(); ++k) {
    recipes.push_back(ReadRecipe(in));
    if (opened.version >= 2) scalings.push_back(ReadScaling(in));
  }
  if (opened.version >= 3) state.inflation = ReadInflation(in);
  auto draws = in.Read<std::vector<MomentDraw>>();
  state.report = ReadReport(in, opened.version >= 3);
  FIDELIO_RETURN_IF_ERROR(in.Finish());
  if (draws.empty() || recipes.empty()) return absl::DataLossError("checkpoint holds no draws");

  const Dataset& data = state.data;
  FIDELIO_RETURN_IF_ERROR(CheckLoadedData(data));
  FIDELIO_RETURN_IF_ERROR(CheckInflation(state.inflation));
  std::vector<std::shared_ptr<const MomentModel>> structures;
  std::vector<OutputUnits> units;  // of each structure's draws
  for (size_t k = 0; k < recipes.size(); ++k) {
    FIDELIO_RETURN_IF_ERROR(CheckRecipe(recipes[k], data));
    if (scalings.size() == k) scalings.push_back(ScalingOf(data, recipes[k].first_level));
    FIDELIO_RETURN_IF_ERROR(CheckScaling(scalings[k], data.dimension()));
    units.push_back(UnitsOf(scalings[k], scalings[0]));
    const int first_level = recipes[k].first_level;
    if (units[k].Differ()) {
      if (first_level + 1 < static_cast<int>(data.levels.size())) {
        return absl::DataLossError("checkpoint holds structures of several levels with unlike scalings of outputs");
      }
      recipes[k] = InUnits(recipes[k], units[k]);
    }
    structures.push_back(std::make_shared<const MomentModel>(ScaleData(data, first_level, scalings[0]), recipes[k]));
  }
  for (MomentDraw& draw : draws) {
    if (draw.structure < 0 || draw.structure >= static_cast<int>(structures.size()) || !std::isfinite(draw.weight) ||
        draw.theta.size() != structures[draw.structure]->layout.parameters.size()) {
      return UnknownDraw(draw);
    }
    if (units[draw.structure].Differ()) {
      draw.theta = InUnits(std::move(draw.theta), structures[draw.structure]->layout, units[draw.structure]);
    }
  }
  FIDELIO_ASSIGN_OR_RETURN(MomentMixture mixture,
                           MomentMixture::Build(std::move(structures), std::move(draws), /*threads=*/0));
  state.scaling = scalings[0];
  if (opened.version < 3) {
    state.inflation = UnshrunkInflation(mixture.MeanResidual(static_cast<int>(state.data.levels.size()) - 1));
  }
  return std::make_unique<FittedEmulator>(std::move(state), std::make_unique<MfDgpPosterior>(std::move(mixture)));
}

}  // namespace fidelio
