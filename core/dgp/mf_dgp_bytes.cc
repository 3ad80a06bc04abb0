// The checkpoint of an MfDgp, version 2 (the envelope is in core/base/bytes.h). Payload, in this order:
//
//   data         as in core/emulator/dataset_bytes.h
//   structures   u64 count; per structure u32 first level, u32 kernel, bool warp, bool trend, f64 trend curvature, f64 noise floor, f64 tie,
//                f64 centre of layer 1's log lengthscales, u64 links, per link bool offset, bool raw zero, f64 weight;
//                the scaling of its data: vectors lowest input, width, f64 mean, f64 standard deviation of outputs (not in
//                version 1: that of the data)
//   draws        u64 count; per draw u32 structure, f64 weight, vector θ
//   report       i64 evaluations, f64 seconds, f64 log posterior, f64 acceptance, f64 largest jitter
//
// Everything else is computed from these when a checkpoint is loaded.
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "core/dgp/mf_dgp.h"
#include "core/dgp/mf_dgp_impl.h"
#include "core/dgp/recipe_bytes.h"
#include "core/dgp/scaling_bytes.h"
#include "core/emulator/dataset_bytes.h"

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

std::string MfDgp::Save() const {
  ByteWriter out;
  WriteDataset(impl_->data, out);
  out.U64(impl_->structures.size());
  for (const auto& structure : impl_->structures) {
    WriteRecipe(structure->recipe, out);
    WriteScaling(structure->data.scaling, out);
  }
  out.U64(impl_->draws.size());
  for (const MomentDraw& draw : impl_->draws) {
    out.U32(static_cast<uint32_t>(draw.structure));
    out.F64(draw.weight);
    out.Write(draw.theta);
  }
  const FitReport& report = impl_->report;
  out.I64(report.evaluations);
  out.F64(report.seconds);
  out.F64(report.log_posterior);
  out.F64(report.acceptance);
  out.F64(report.max_jitter);
  return out.Seal(kMfDgpKind, kMfDgpVersion);
}

absl::StatusOr<std::unique_ptr<MfDgp>> MfDgp::Load(absl::string_view bytes) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader::Opened opened,
                           ByteReader::Open(bytes, kMfDgpKind, kMfDgpVersion, "checkpoint of an MF-DGP model"));
  ByteReader& in = opened.reader;
  Dataset data = ReadDataset(in);
  std::vector<Recipe> recipes;
  std::vector<Scaling> scalings;  // none in version 1
  const uint64_t structure_count = in.U64();
  for (uint64_t k = 0; k < structure_count && in.ok(); ++k) {
    recipes.push_back(ReadRecipe(in));
    if (opened.version >= 2) scalings.push_back(ReadScaling(in));
  }
  std::vector<MomentDraw> draws;
  const uint64_t draw_count = in.U64();
  for (uint64_t i = 0; i < draw_count && in.ok(); ++i) {
    MomentDraw draw;
    draw.structure = static_cast<int>(in.U32());
    draw.weight = in.F64();
    draw.theta = in.ReadVector();
    draws.push_back(std::move(draw));
  }
  FitReport report;
  report.evaluations = in.I64();
  report.seconds = in.F64();
  report.log_posterior = in.F64();
  report.acceptance = in.F64();
  report.max_jitter = in.F64();
  FIDELIO_RETURN_IF_ERROR(in.Finish());

  if (const absl::Status status = Validate(data); !status.ok()) {
    return absl::DataLossError(absl::StrFormat("checkpoint holds invalid data: %s", status.message()));
  }
  std::vector<std::shared_ptr<const MomentModel>> structures;
  for (size_t k = 0; k < recipes.size(); ++k) {
    FIDELIO_RETURN_IF_ERROR(CheckRecipe(recipes[k], data));
    const int first_level = recipes[k].first_level;
    if (!scalings.empty()) FIDELIO_RETURN_IF_ERROR(CheckScaling(scalings[k], data.dimension()));
    ScaledData scaled = scalings.empty() ? ScaleData(data, first_level) : ScaleData(data, first_level, scalings[k]);
    structures.push_back(std::make_shared<const MomentModel>(std::move(scaled), recipes[k]));
  }
  if (draws.empty()) return absl::DataLossError("checkpoint holds no draws");
  for (const MomentDraw& draw : draws) {
    if (draw.structure < 0 || draw.structure >= static_cast<int>(structures.size()) || !std::isfinite(draw.weight) ||
        draw.theta.size() != structures[draw.structure]->layout.parameters.size()) {
      return absl::DataLossError(
          absl::StrFormat("checkpoint holds a draw of structure %d with %d parameters, which no structure has",
                          draw.structure, draw.theta.size()));
    }
  }
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<Impl> impl, Impl::Build(std::move(data), std::move(structures),
                                                                   std::move(draws), report, /*threads=*/0));
  return std::unique_ptr<MfDgp>(new MfDgp(std::move(impl)));
}

}  // namespace fidelio
