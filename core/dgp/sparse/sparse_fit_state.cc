#include "core/dgp/sparse/sparse_fit_state.h"

#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/crc32c.h"
#include "core/base/status_macros.h"
#include "core/dgp/sparse/sparse_mf_dgp_posterior.h"
#include "core/fit/fit_bytes.h"

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
  out(options);
  out.Write(warm.theta);
  Vector noise(static_cast<Eigen::Index>(warm.noise.size()));
  for (size_t t = 0; t < warm.noise.size(); ++t) noise[static_cast<Eigen::Index>(t)] = warm.noise[t];
  out.Write(noise);
}

absl::StatusOr<FitStart> ReadFitStart(const Dataset& data, ByteReader& in) {
  FitStart start;
  const uint32_t checksum = in.U32();
  start.options = in.Read<FitOptions>();
  start.warm.theta = in.ReadVectors();
  const Vector noise = in.ReadVector();
  start.warm.noise.assign(noise.data(), noise.data() + noise.size());
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

}  // namespace fidelio
