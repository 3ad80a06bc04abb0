#include "core/dgp/sparse/sparse_fit_state.h"

#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/crc32c.h"
#include "core/base/status_macros.h"
#include "core/dgp/sparse/sparse_mf_dgp_posterior.h"

namespace fidelio {
namespace {

uint32_t ChecksumOf(const Dataset& data) {
  std::string sums;
  for (const LevelData& level : data.levels) {
    for (const auto& part : {Matrix(level.x), Matrix(level.y), Matrix(level.noise_variance)}) {
      const absl::string_view bytes(reinterpret_cast<const char*>(part.data()),
                                    static_cast<size_t>(part.size()) * sizeof(double));
      absl::StrAppendFormat(&sums, "%d:%d;", part.rows(), Crc32c(bytes));
    }
  }
  return Crc32c(sums);
}

}  // namespace

std::vector<int> CountsOf(const Dataset& data) {
  std::vector<int> counts;
  for (const LevelData& level : data.levels) counts.push_back(static_cast<int>(level.y.size()));
  return counts;
}

absl::StatusOr<WarmLayers> WarmLayersOf(const Dataset& data, const FitOptions& options) {
  WarmLayers layers;
  FIDELIO_ASSIGN_OR_RETURN(const auto warm, WarmStartOf<SparseMfDgpPosterior>(options, data));
  if (warm.posterior == nullptr) return layers;
  for (int t = 0; t < warm.model->levels(); ++t) {
    const bool learned = data.levels[t].noise_variance.size() == 0;
    const SparseLayerState& layer = warm.posterior->layers().layer(t);
    if (learned != (layer.noise > 0)) return WarmLayers();
    layers.theta.push_back(layer.theta);
    layers.noise.push_back(layer.noise);
  }
  return layers;
}

void WriteFitStart(uint32_t recipe, const Dataset& data, const FitOptions& options, const WarmLayers& warm,
                   ByteWriter& out) {
  out.U32(recipe);
  out.U32(ChecksumOf(data));
  out.Bool(options.kernel.has_value());
  out.U32(static_cast<uint32_t>(options.kernel.value_or(KernelFamily::kRbf)));
  out.U64(options.seed);
  out.F64(options.max_seconds);
  out.I64(options.max_iterations);
  out.I64(options.inducing_points);
  out.I64(options.batch_size);
  out.I64(options.steps);
  out.Write(warm.theta);
  Vector noise(static_cast<Eigen::Index>(warm.noise.size()));
  for (size_t t = 0; t < warm.noise.size(); ++t) noise[static_cast<Eigen::Index>(t)] = warm.noise[t];
  out.Write(noise);
}

absl::StatusOr<FitStart> ReadFitStart(uint32_t recipe, const Dataset& data, ByteReader& in) {
  FitStart start;
  const uint32_t own_recipe = in.U32(), checksum = in.U32();
  const bool kernel_given = in.Bool();
  const auto kernel = static_cast<KernelFamily>(in.U32());
  start.options.kernel = kernel_given ? std::optional<KernelFamily>(kernel) : std::nullopt;
  start.options.seed = in.U64();
  start.options.max_seconds = in.F64();
  start.options.max_iterations = in.I64();
  start.options.inducing_points = static_cast<int>(in.I64());
  start.options.batch_size = static_cast<int>(in.I64());
  start.options.steps = in.I64();
  start.warm.theta = in.ReadVectors();
  const Vector noise = in.ReadVector();
  start.warm.noise.assign(noise.data(), noise.data() + noise.size());
  if (own_recipe != recipe) {
    return absl::FailedPreconditionError(
        absl::StrFormat("state of a running fit: made with recipe %d, this program has recipe %d; start the fit again",
                        own_recipe, recipe));
  }
  if (!in.ok() || checksum != ChecksumOf(data)) {
    return absl::DataLossError("state of a running fit: it belongs to other observations than those given");
  }
  FIDELIO_RETURN_IF_ERROR(Validate(start.options));
  if (!start.warm.theta.empty() && (start.warm.theta.size() != data.levels.size() ||
                                    noise.size() != static_cast<Eigen::Index>(data.levels.size()))) {
    return absl::DataLossError("state of a running fit: its warm start is not one of the model");
  }
  return start;
}

bool FitBudget::KeepGoing(const char* phase, int64_t evaluations, double fraction, double value) {
  constexpr int64_t kAlways = 2;
  const double used = seconds();
  if (observer_ != nullptr && !observer_->OnProgress({.phase = phase,
                                                      .iteration = evaluations,
                                                      .evaluations = evaluations,
                                                      .fraction = fraction,
                                                      .log_posterior = value,
                                                      .seconds = used})) {
    cancelled_ = true;
    return false;
  }
  return evaluations < kAlways || (used < options_.max_seconds && evaluations < options_.max_iterations);
}

}  // namespace fidelio
