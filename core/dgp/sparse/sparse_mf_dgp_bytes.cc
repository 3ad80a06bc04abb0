// Checkpoints of a SparseMfDgp, version 2 (the envelope is in core/base/bytes.h). Payload, in this order:
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
#include "core/dgp/sparse/sparse_mf_dgp.h"
#include "core/dgp/sparse/sparse_mf_dgp_impl.h"

namespace fidelio {
namespace {

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

std::string SparseMfDgp::Save() const {
  ByteWriter out;
  WriteDataset(impl_->data, out);
  WriteScaling(impl_->scaling, out);
  out.U64(static_cast<uint64_t>(levels()));
  for (int t = 0; t < levels(); ++t) {
    const SparseLayerState& layer = impl_->posterior.layer(t);
    out.U32(static_cast<uint32_t>(layer.shape.family));
    out.Write(layer.theta);
    out.Write(layer.z);
    out.Write(layer.zf);
    out.F64(layer.jitter);
    out.Write(layer.m);
    out.Write(layer.root);
    out.F64(layer.noise);
  }
  out.I64(impl_->report.evaluations);
  out.F64(impl_->report.seconds);
  out.F64(impl_->report.log_posterior);
  out.F64(impl_->report.max_jitter);
  WriteInflation(impl_->inflation, out);
  return out.Seal(impl_->kind, kSparseMfDgpVersion);
}

absl::StatusOr<std::unique_ptr<SparseMfDgp>> SparseMfDgp::Load(absl::string_view bytes, uint32_t kind) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader::Opened opened, ByteReader::Open(bytes, kind, kSparseMfDgpVersion,
                                                                       "checkpoint of a variational MF-DGP model"));
  ByteReader& in = opened.reader;
  Dataset data = ReadDataset(in);
  Scaling scaling = ReadScaling(in);
  std::vector<SparseLayerState> layers;
  const uint64_t count = in.U64();
  for (uint64_t t = 0; t < count && in.ok(); ++t) {
    SparseLayerState layer;
    layer.shape.family = static_cast<KernelFamily>(in.U32());
    layer.shape.dimension = data.dimension();
    layer.shape.linked = t > 0;
    layer.theta = in.ReadVector();
    layer.z = in.ReadMatrix();
    layer.zf = in.ReadVector();
    layer.jitter = in.F64();
    layer.m = in.ReadVector();
    layer.root = in.ReadMatrix();
    layer.noise = in.F64();
    layers.push_back(std::move(layer));
  }
  FitReport report;
  report.evaluations = in.I64();
  report.seconds = in.F64();
  report.log_posterior = in.F64();
  report.max_jitter = in.F64();
  const Inflation inflation = opened.version >= 2 ? ReadInflation(in) : Inflation();
  FIDELIO_RETURN_IF_ERROR(in.Finish());
  if (const absl::Status status = Validate(data); !status.ok()) {
    return absl::DataLossError(absl::StrFormat("checkpoint holds invalid data: %s", status.message()));
  }
  FIDELIO_RETURN_IF_ERROR(CheckInflation(inflation));
  FIDELIO_RETURN_IF_ERROR(CheckScaling(scaling, data.dimension()));
  if (layers.size() != data.levels.size()) {
    return absl::DataLossError(
        absl::StrFormat("checkpoint holds %d layers for data of %d levels", layers.size(), data.levels.size()));
  }
  for (size_t t = 0; t < layers.size(); ++t) {
    FIDELIO_RETURN_IF_ERROR(CheckLayer(layers[t], static_cast<int>(t), data.dimension()));
  }
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<Impl> impl,
                           Impl::Build(kind, std::move(data), std::move(scaling), std::move(layers), report));
  impl->Inflate(inflation);
  return std::make_unique<SparseMfDgp>(std::move(impl));
}

}  // namespace fidelio
