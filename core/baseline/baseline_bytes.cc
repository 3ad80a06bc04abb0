// The checkpoint of a classic model, version 3 (the envelope is in core/base/bytes.h; its kind says which method it is).
// Payload, in this order:
//
//   data      as in core/data/dataset_bytes.h
//   scaling   as in core/data/scaling_bytes.h
//   stages    as in baseline_bytes.h
//   report    as in core/emulator/report_bytes.h, f64 inflation, bool of given noise; before version 3: i64 evaluations,
//             f64 seconds, f64 log posterior, f64 acceptance (not in version 1)
//
// Everything else is computed from these when a checkpoint is loaded.
#include "core/baseline/baseline_bytes.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "core/baseline/baseline_model.h"
#include "core/baseline/baseline_posterior.h"
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

std::string BaselinePosterior::Save(const FittedState& state) const {
  ByteWriter out;
  WriteDataset(state.data, out);
  WriteScaling(state.scaling, out);
  WriteStages(stages_, out);
  WriteReport(state.report, out);
  WriteInflation(state.inflation, out);
  return out.Seal(checkpoint_kind(), kModelVersion);
}

absl::StatusOr<std::unique_ptr<FittedEmulator>> LoadBaseline(BaselineMethod method, absl::string_view bytes) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader::Opened opened,
                           ByteReader::Open(bytes, CheckpointKindOf(method), kModelVersion,
                                            absl::StrFormat("checkpoint of a model of method %s", NameOf(method))));
  ByteReader& in = opened.reader;
  FittedState state;
  state.data = ReadDataset(in);
  state.scaling = ReadScaling(in);
  std::vector<StageParameters> stages = ReadStages(in, opened.version);
  if (opened.version >= 3) {
    state.report = ReadReport(in, /*sampling=*/true);
    state.inflation = ReadInflation(in);
  } else {
    state.report.evaluations = in.I64();
    state.report.seconds = in.F64();
    state.report.log_posterior = in.F64();
    if (opened.version >= 2) state.report.acceptance = in.F64();
  }
  FIDELIO_RETURN_IF_ERROR(in.Finish());
  FIDELIO_RETURN_IF_ERROR(CheckLoaded(state));
  FIDELIO_RETURN_IF_ERROR(CheckStages(stages));
  if (opened.version < 2) TakeFromVersion1(method, state.data.dimension(), stages);
  const BaselineModel model(method, ScaleData(state.data, 0, state.scaling));
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<const Posterior> posterior, model.Posterior(stages));
  if (opened.version < 3) {
    const int top = static_cast<int>(state.data.levels.size()) - 1;
    FIDELIO_ASSIGN_OR_RETURN(const ObservedMixtures left_out, LeaveOut(state, *posterior, top, /*threads=*/0));
    state.inflation = UnshrunkInflation(MeanSquaredResidual(Summarise(left_out)));
  }
  return std::make_unique<FittedEmulator>(std::move(state), std::move(posterior));
}

}  // namespace fidelio
