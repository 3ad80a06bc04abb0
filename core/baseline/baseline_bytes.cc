// The checkpoint of a BaselineEmulator, version 1 (the envelope is in core/base/bytes.h; its kind says which method it is).
// Payload, in this order:
//
//   data      as in core/emulator/dataset_bytes.h
//   scaling   as in core/dgp/scaling_bytes.h
//   stages    u64 count; per stage u32 kernel, vector θ
//   report    i64 evaluations, f64 seconds, f64 log posterior
//
// Everything else is computed from these when a checkpoint is loaded.
#include "core/baseline/baseline_bytes.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "core/baseline/baseline_impl.h"
#include "core/dgp/scaling_bytes.h"
#include "core/emulator/dataset_bytes.h"

namespace fidelio {
namespace {

constexpr uint32_t kVersion = 1;

}  // namespace

void WriteStages(const std::vector<StageParameters>& stages, ByteWriter& out) {
  out.U64(stages.size());
  for (const StageParameters& stage : stages) {
    out.U32(static_cast<uint32_t>(stage.family));
    out.Write(stage.theta);
  }
}

std::vector<StageParameters> ReadStages(ByteReader& in) {
  std::vector<StageParameters> stages;
  const uint64_t count = in.U64();
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    const auto family = static_cast<KernelFamily>(in.U32());
    stages.push_back({.family = family, .theta = in.ReadVector()});
  }
  return stages;
}

absl::Status CheckFamily(KernelFamily family) {
  if (IsKernelFamily(family)) return absl::OkStatus();
  return absl::DataLossError(absl::StrFormat("unknown kernel family %d", static_cast<uint32_t>(family)));
}

std::string BaselineEmulator::Save() const {
  ByteWriter out;
  WriteDataset(impl_->data, out);
  WriteScaling(impl_->scaling, out);
  WriteStages(impl_->stages, out);
  out.I64(impl_->report.evaluations);
  out.F64(impl_->report.seconds);
  out.F64(impl_->report.log_posterior);
  return out.Seal(checkpoint_kind(), kVersion);
}

absl::StatusOr<std::unique_ptr<BaselineEmulator>> BaselineEmulator::Load(BaselineMethod method,
                                                                         absl::string_view bytes) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader::Opened opened,
                           ByteReader::Open(bytes, CheckpointKindOf(method), kVersion,
                                            absl::StrFormat("checkpoint of a model of method %s", NameOf(method))));
  ByteReader& in = opened.reader;
  Dataset data = ReadDataset(in);
  const Scaling scaling = ReadScaling(in);
  std::vector<StageParameters> stages = ReadStages(in);
  FitReport report;
  report.evaluations = in.I64();
  report.seconds = in.F64();
  report.log_posterior = in.F64();
  FIDELIO_RETURN_IF_ERROR(in.Finish());
  if (const absl::Status status = Validate(data); !status.ok()) {
    return absl::DataLossError(absl::StrFormat("checkpoint holds invalid data: %s", status.message()));
  }
  FIDELIO_RETURN_IF_ERROR(CheckScaling(scaling, data.dimension()));
  for (const StageParameters& stage : stages) FIDELIO_RETURN_IF_ERROR(CheckFamily(stage.family));
  const BaselineModel model(method, ScaleData(data, 0, scaling));
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<Impl> impl, Impl::Build(std::move(data), model, std::move(stages), report));
  return std::unique_ptr<BaselineEmulator>(new BaselineEmulator(std::move(impl)));
}

}  // namespace fidelio
