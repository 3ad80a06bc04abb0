// Checkpoints of an MF-DGP of sparse layers, version 2 (the envelope is in core/base/bytes.h). Payload, in this order:
//
//   data         as in core/data/dataset_bytes.h
//   scaling      vectors input low, input width; f64 output mean, output sd
//   layers       u64 count; per layer u32 kernel family, vector θ, matrix z, vector zf, f64 jitter, vector m, matrix S, f64 noise
//   report       i64 evaluations, f64 seconds, f64 bound, f64 largest jitter
//   inflation    f64, bool of given noise (neither in version 1, whose models had none)
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/bytes.h"
#include "core/base/status_macros.h"
#include "core/data/dataset_bytes.h"
#include "core/data/scaling_bytes.h"
#include "core/dgp/sparse/sparse_mf_dgp_posterior.h"

namespace fidelio {
namespace {

constexpr uint32_t kSparseMfDgpVersion = 2;

absl::Status CheckLayer(const SparseLayerState& layer, int t, int dimension) {
  const Eigen::Index m = layer.m.size();
  const KernelFamily family = layer.shape.family;
  if (!IsKernelFamily(family)) {
    return absl::DataLossError(absl::StrFormat("unknown kernel family %d", static_cast<uint32_t>(family)));
  }
  if (layer.theta.size() == layer.shape.size() && layer.theta.allFinite() && layer.z.rows() == m &&
      layer.z.cols() == dimension && layer.z.allFinite() && layer.zf.size() == (t > 0 ? m : 0) &&
      layer.zf.allFinite() && layer.m.allFinite() && layer.root.rows() == m && layer.root.cols() == m &&
      layer.root.allFinite() && layer.jitter >= 0 && layer.noise >= 0 && std::isfinite(layer.noise)) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrFormat(
      "checkpoint holds a layer %d whose parts do not fit %d inputs and %d inducing points", t, dimension, m));
}

}  // namespace

std::string SparseMfDgpPosterior::Save(const FittedState& state) const {
  ByteWriter out;
  WriteDataset(state.data, out);
  WriteScaling(state.scaling, out);
  out.U64(static_cast<uint64_t>(layers_.levels()));
  for (int t = 0; t < layers_.levels(); ++t) {
    out(layers_.layer(t));
  }
  out(state.report.evaluations, state.report.seconds, state.report.log_posterior, state.report.max_jitter);
  WriteInflation(state.inflation, out);
  return out.Seal(kind_, kSparseMfDgpVersion);
}

absl::StatusOr<std::unique_ptr<FittedEmulator>> LoadSparseMfDgp(absl::string_view bytes, uint32_t kind) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader::Opened opened, ByteReader::Open(bytes, kind, kSparseMfDgpVersion,
                                                                       "checkpoint of a variational MF-DGP model"));
  ByteReader& in = opened.reader;
  FittedState state;
  state.data = ReadDataset(in);
  state.scaling = ReadScaling(in);
  auto layers = in.Read<std::vector<SparseLayerState>>();
  for (size_t t = 0; t < layers.size(); ++t) {
    layers[t].shape.dimension = state.data.dimension();
    layers[t].shape.linked = t > 0;
  }
  in(state.report.evaluations, state.report.seconds, state.report.log_posterior, state.report.max_jitter);
  if (opened.version >= 2) state.inflation = ReadInflation(in);
  FIDELIO_RETURN_IF_ERROR(in.Finish());
  FIDELIO_RETURN_IF_ERROR(CheckLoaded(state));
  if (layers.size() != state.data.levels.size()) {
    return absl::DataLossError(
        absl::StrFormat("checkpoint holds %d layers for data of %d levels", layers.size(), state.data.levels.size()));
  }
  for (size_t t = 0; t < layers.size(); ++t) {
    FIDELIO_RETURN_IF_ERROR(CheckLayer(layers[t], static_cast<int>(t), state.data.dimension()));
  }
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<const Posterior> posterior,
                           SparseMfDgpPosterior::Build(kind, std::move(layers)));
  return std::make_unique<FittedEmulator>(std::move(state), std::move(posterior));
}

}  // namespace fidelio
