// The state of a running fit, version 4 (the envelope is in core/base/bytes.h). Payload, in this order:
//
//   u32 recipe version; data as in a checkpoint; options as in core/fit/fit_bytes.h; warm start: stages as in a checkpoint
//   stages that are done, as in a checkpoint; their report as in core/emulator/report_bytes.h; i64 transitions, i64 iterations
//   work, search   as in core/fit/fit_bytes.h
//
// States of other recipes, older versions among them, are refused: the fit starts again.
#include "core/baseline/baseline_fit.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/bytes.h"
#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/baseline/baseline_bytes.h"
#include "core/baseline/baseline_model.h"
#include "core/baseline/baseline_posterior.h"
#include "core/baseline/baseline_priors.h"
#include "core/baseline/stage_search.h"
#include "core/data/dataset_bytes.h"
#include "core/emulator/fitted_emulator.h"
#include "core/emulator/report_bytes.h"
#include "core/fit/fit_bytes.h"
#include "core/fit/mode_chains.h"

namespace fidelio {
namespace {

constexpr uint32_t kStateVersion = 4;
constexpr uint32_t kStagesVersion = 2;  // of the checkpoint whose form they have

StagesDone ReadDone(ByteReader& in) {
  StagesDone done;
  done.found = ReadStages(in, kStagesVersion);
  done.report = ReadReport(in, /*sampling=*/true);
  done.transitions = in.I64();
  done.iterations = in.I64();
  return done;
}

// Sizes of a state that was read, against the model that it claims to be of.
absl::Status CheckState(const StageProgress::State& state, const std::vector<StageParameters>& warm,
                        const FitOptions& options, const BaselineModel& model) {
  const int done = static_cast<int>(state.done.found.size());
  const bool under_way = !state.search.starts.empty();
  if (done > model.stages() || (under_way && done == model.stages()) ||
      (!warm.empty() && static_cast<int>(warm.size()) != model.stages())) {
    return absl::DataLossError("state of a running fit: stages are not those of its model");
  }
  FIDELIO_RETURN_IF_ERROR(CheckStages(state.done.found));
  if (!under_way) return absl::OkStatus();
  FIDELIO_ASSIGN_OR_RETURN(const StageTarget target,
                           StageTarget::Create(model, options.kernel, state.done.found, options.seed));
  return CheckSearch(state.search, {}, target);
}

// How many draws a stage of so many observations keeps.
double Draws(int64_t observations) {
  const SearchSettings settings = StageSettings(observations);
  return static_cast<double>(std::max(settings.draws, kChainsPerMode * settings.modes));
}

}  // namespace

struct BaselineFit::Impl {
  Dataset data;
  FitOptions options;  // without warm_start
  BaselineModel model;
  std::vector<StageParameters> warm;
  FitBudget budget;
  StageProgress progress;

  Impl(BaselineMethod method, Dataset d, const FitOptions& o, const FitWork& work = {}, StageProgress::State state = {})
      : data(std::move(d)),
        options(o),
        model(method, ScaleData(data)),
        budget(options, work),
        progress(std::move(state)) {
    options.warm_start = nullptr;
  }
};

BaselineFit::BaselineFit(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BaselineFit::~BaselineFit() = default;

absl::StatusOr<std::unique_ptr<BaselineFit>> BaselineFit::Create(BaselineMethod method, const Dataset& data,
                                                                 const FitOptions& options) {
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  FIDELIO_RETURN_IF_ERROR(Validate(options));
  auto impl = std::make_unique<Impl>(method, data, options);
  FIDELIO_ASSIGN_OR_RETURN(const auto warm, WarmStartOf<BaselinePosterior>(options, data));
  if (warm.posterior != nullptr) {
    if (warm.posterior->method() != method) {
      return absl::InvalidArgumentError("warm_start: a model that another method fitted");
    }
    // With other noise parameters, the numbers would mean something else.
    if (SameNoise(warm.model->data(), data)) impl->warm = warm.posterior->stages();
  }
  return std::unique_ptr<BaselineFit>(new BaselineFit(std::move(impl)));
}

absl::StatusOr<std::unique_ptr<MixtureEmulator>> BaselineFit::Run(FitObserver* observer) {
  impl_->budget.Begin(observer);
  FIDELIO_ASSIGN_OR_RETURN(StagesDone done,
                           RunStageSearch(impl_->model, impl_->options, impl_->warm, impl_->budget, impl_->progress));
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<const Posterior> posterior, impl_->model.Posterior(done.found));
  return FittedEmulator::Create({.data = impl_->data, .scaling = impl_->model.data().scaling, .report = done.report},
                                std::move(posterior), impl_->options.threads);
}

std::string BaselineFit::SaveState() const {
  const StageProgress::State state = impl_->progress.Copy();
  ByteWriter out;
  out.U32(kBaselineRecipeVersion);
  WriteDataset(impl_->data, out);
  out(impl_->options);
  WriteStages(impl_->warm, out);
  WriteStages(state.done.found, out);
  WriteReport(state.done.report, out);
  out.I64(state.done.transitions);
  out.I64(state.done.iterations);
  out(impl_->budget.used());
  out(state.search);
  return out.Seal(StateKindOf(impl_->model.method()), kStateVersion);
}

absl::StatusOr<std::unique_ptr<BaselineFit>> BaselineFit::Resume(BaselineMethod method, absl::string_view bytes,
                                                                 int threads) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader in, OpenState(bytes, StateKindOf(method), kStateVersion, kBaselineRecipeVersion));
  Dataset data = ReadDataset(in);
  FitOptions options = in.Read<FitOptions>();
  options.threads = threads;
  std::vector<StageParameters> warm = ReadStages(in, kStagesVersion);
  StageProgress::State state;
  state.done = ReadDone(in);
  const FitWork work = in.Read<FitWork>();
  state.search = in.Read<SearchState>();
  FIDELIO_RETURN_IF_ERROR(in.Finish());
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  FIDELIO_RETURN_IF_ERROR(Validate(options));
  if (options.kernel) FIDELIO_RETURN_IF_ERROR(CheckFamily(*options.kernel));
  auto impl = std::make_unique<Impl>(method, std::move(data), options, work, state);
  FIDELIO_RETURN_IF_ERROR(CheckState(state, warm, options, impl->model));
  impl->warm = std::move(warm);
  return std::unique_ptr<BaselineFit>(new BaselineFit(std::move(impl)));
}

double BaselineFit::MemoryBytes(BaselineMethod method, const std::vector<int64_t>& counts, int threads) {
  // Each thread has a covariance with its adjoint, its factor, and packed kernels; the result has a factor per draw.
  double total = 0, largest = 0, squares = 0;
  for (const int64_t n : counts) {
    const auto count = static_cast<double>(n);
    total += count;
    largest = std::max(largest, count);
    squares += count * count * Draws(n);
  }
  const bool joint = method == BaselineMethod::kAr1 || method == BaselineMethod::kDeepMf;
  const double work = joint ? total * total * (5.0 + static_cast<double>(counts.size())) : 9 * largest * largest;
  return 8 * (work * ResolveThreads(threads) + (joint ? total * total * Draws(static_cast<int64_t>(total)) : squares));
}

}  // namespace fidelio
