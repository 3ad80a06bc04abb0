// The checkpoint of a BaselineEmulator, version 3 (the envelope is in core/base/bytes.h; its kind says which method it is).
// Payload, in this order:
//
//   data      as in core/data/dataset_bytes.h
//   scaling   as in core/data/scaling_bytes.h
//   stages    as in baseline_bytes.h
//   report    as in core/emulator/report_bytes.h, f64 inflation, bool of given noise; before version 3: i64 evaluations, f64 seconds, f64 log posterior,
//             f64 acceptance (not in version 1)
//
// Everything else is computed from these when a checkpoint is loaded.
#include "core/baseline/baseline_bytes.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "core/baseline/baseline_impl.h"
#include "core/data/dataset_bytes.h"
#include "core/data/scaling_bytes.h"
#include "core/emulator/inflation.h"
#include "core/emulator/report_bytes.h"

namespace fidelio {
namespace {

constexpr uint32_t kModelVersion = 3;

void WriteDraw(const StageDraw& draw, ByteWriter& out) {
  WriteForm(draw.form, out);
  out.Write(draw.theta);
  out.F64(draw.weight);
}

StageDraw ReadDraw(ByteReader& in, uint32_t version) {
  StageDraw draw;
  draw.form = ReadForm(in, version);
  draw.theta = in.ReadVector();
  if (version >= 2) draw.weight = in.F64();
  return draw;
}

// Version 1 had networks of four units, and the absolute amplitude and lengthscales of NARGP's link (ChainLayer).
void TakeFromVersion1(BaselineMethod method, int dimension, std::vector<StageParameters>& stages) {
  for (size_t t = 0; t < stages.size(); ++t) {
    StageDraw& draw = stages[t].best;
    if (method == BaselineMethod::kDeepMf) draw.form.hidden = 4;
    if (method == BaselineMethod::kNargp && t > 0 && draw.theta.size() > dimension + 1) {
      const double flat = 0.5 * std::log1p(std::exp(2 * draw.theta[dimension + 1]));
      draw.theta.head(dimension).array() -= flat;
      draw.theta[dimension] -= 2 * flat;
    }
    stages[t].draws = {draw};
  }
}

}  // namespace

void WriteForm(const StageForm& form, ByteWriter& out) {
  out.U32(static_cast<uint32_t>(form.family));
  out.U32(static_cast<uint32_t>(form.hidden));
}

StageForm ReadForm(ByteReader& in, uint32_t version) {
  StageForm form;
  form.family = static_cast<KernelFamily>(in.U32());
  if (version >= 2) form.hidden = static_cast<int>(in.U32());
  return form;
}

void WriteStages(const std::vector<StageParameters>& stages, ByteWriter& out) {
  out.U64(stages.size());
  for (const StageParameters& stage : stages) {
    WriteDraw(stage.best, out);
    out.U64(stage.draws.size());
    for (const StageDraw& draw : stage.draws) WriteDraw(draw, out);
  }
}

std::vector<StageParameters> ReadStages(ByteReader& in, uint32_t version) {
  std::vector<StageParameters> stages;
  const uint64_t count = in.U64();
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    StageParameters stage;
    stage.best = ReadDraw(in, version);
    if (version < 2) {
      stage.draws = {stage.best};
    } else {
      const uint64_t draws = in.U64();
      for (uint64_t k = 0; k < draws && in.ok(); ++k) stage.draws.push_back(ReadDraw(in, version));
    }
    stages.push_back(std::move(stage));
  }
  return stages;
}

absl::Status CheckStages(const std::vector<StageParameters>& stages) {
  for (const StageParameters& stage : stages) {
    FIDELIO_RETURN_IF_ERROR(CheckFamily(stage.best.form.family));
    double total = 0;
    for (const StageDraw& draw : stage.draws) {
      FIDELIO_RETURN_IF_ERROR(CheckFamily(draw.form.family));
      if (draw.form.hidden < 0 || draw.form.hidden > draw.theta.size()) {
        return absl::DataLossError(absl::StrFormat("units of a network: %d", draw.form.hidden));
      }
      if (!(draw.weight >= 0)) return absl::DataLossError(absl::StrFormat("weight of a draw: %g", draw.weight));
      total += draw.weight;
    }
    if (!(std::abs(total - 1) < 1e-6)) return absl::DataLossError(absl::StrFormat("weights of draws sum to %g", total));
  }
  return absl::OkStatus();
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
  WriteReport(impl_->report, out);
  WriteInflation(impl_->inflation, out);
  return out.Seal(checkpoint_kind(), kModelVersion);
}

absl::StatusOr<std::unique_ptr<BaselineEmulator>> BaselineEmulator::Load(BaselineMethod method,
                                                                         absl::string_view bytes) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader::Opened opened,
                           ByteReader::Open(bytes, CheckpointKindOf(method), kModelVersion,
                                            absl::StrFormat("checkpoint of a model of method %s", NameOf(method))));
  ByteReader& in = opened.reader;
  Dataset data = ReadDataset(in);
  const Scaling scaling = ReadScaling(in);
  std::vector<StageParameters> stages = ReadStages(in, opened.version);
  FitReport report;
  Inflation inflation;
  if (opened.version >= 3) {
    report = ReadReport(in, /*sampling=*/true);
    inflation = ReadInflation(in);
  } else {
    report.evaluations = in.I64();
    report.seconds = in.F64();
    report.log_posterior = in.F64();
    if (opened.version >= 2) report.acceptance = in.F64();
  }
  FIDELIO_RETURN_IF_ERROR(in.Finish());
  if (const absl::Status status = Validate(data); !status.ok()) {
    return absl::DataLossError(absl::StrFormat("checkpoint holds invalid data: %s", status.message()));
  }
  FIDELIO_RETURN_IF_ERROR(CheckScaling(scaling, data.dimension()));
  FIDELIO_RETURN_IF_ERROR(CheckStages(stages));
  if (opened.version < 2) TakeFromVersion1(method, data.dimension(), stages);
  const BaselineModel model(method, ScaleData(data, 0, scaling));
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<Impl> impl, Impl::Build(std::move(data), model, std::move(stages), report));
  FIDELIO_RETURN_IF_ERROR(CheckInflation(inflation));
  impl->Inflate(opened.version >= 3 ? inflation : UnshrunkInflation(MeanSquaredResidual(impl->LeftOutAtTop())));
  return std::unique_ptr<BaselineEmulator>(new BaselineEmulator(std::move(impl)));
}

}  // namespace fidelio
