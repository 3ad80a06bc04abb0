// The state of a running fit, version 3 (the envelope is in core/base/bytes.h). Payload, in this order:
//
//   u32 recipe version; data as in a checkpoint
//   options     bool kernel given, u32 kernel, bool point estimate, u64 seed, f64 max seconds, i64 max iterations
//   warm start  stages as in a checkpoint
//   progress    stages that are done, f64 value; u64 starts, per start form, vector z, f64 value, u32 rounds, bool done;
//               bool screened; u64 modes, per mode form, vector z, f64 value, matrix Hessian, u32 failed
//               columns, f64 log evidence, f64 weight; u64 chains, per chain u32 mode, bool started, state (core/optim/hmc_bytes.h),
//               vectors of its trace; f64 acceptance, i64 transitions, u32 chains, f64 R̂, f64 effective size, u32 moved chains,
//               u32 failed columns, i64 iterations, i64 evaluations, f64 seconds
//
// States of other recipes, older versions among them, are refused: the fit starts again.
#include "core/baseline/baseline_fit.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/bytes.h"
#include "core/base/status_macros.h"
#include "core/baseline/baseline_bytes.h"
#include "core/baseline/baseline_model.h"
#include "core/baseline/baseline_posterior.h"
#include "core/baseline/stage_search.h"
#include "core/data/dataset_bytes.h"
#include "core/emulator/fitted_emulator.h"
#include "core/optim/hmc_bytes.h"
#include "core/optim/mode_chains.h"

namespace fidelio {
namespace {

constexpr uint32_t kStateVersion = 3;
constexpr uint32_t kStagesVersion = 2;  // of the checkpoint whose form they have

void WriteChain(const SearchChain& chain, ByteWriter& out) {
  out.U32(static_cast<uint32_t>(chain.mode));
  out.Bool(chain.started);
  WriteHmc(chain.hmc, out);
  out.Write(chain.trace);
}

SearchChain ReadChain(ByteReader& in) {
  SearchChain chain;
  chain.mode = static_cast<int>(in.U32());
  chain.started = in.Bool();
  chain.hmc = ReadHmc(in);
  chain.trace = in.ReadVectors();
  return chain;
}

void WriteMode(const SearchMode& mode, ByteWriter& out) {
  WriteForm(mode.form, out);
  out.Write(mode.z);
  out.F64(mode.value);
  out.Write(mode.hessian);
  out.U32(static_cast<uint32_t>(mode.failed_columns));
  out.F64(mode.log_evidence);
  out.F64(mode.weight);
}

SearchMode ReadMode(ByteReader& in) {
  SearchMode mode;
  mode.form = ReadForm(in, kStagesVersion);
  mode.z = in.ReadVector();
  mode.value = in.F64();
  mode.hessian = in.ReadMatrix();
  mode.failed_columns = static_cast<int>(in.U32());
  mode.log_evidence = in.F64();
  mode.weight = in.F64();
  return mode;
}

void WriteState(const SearchState& state, ByteWriter& out) {
  WriteStages(state.found, out);
  out.F64(state.value);
  out.U64(state.starts.size());
  for (const SearchStart& s : state.starts) {
    WriteForm(s.form, out);
    out.Write(s.z);
    out.F64(s.value);
    out.U32(static_cast<uint32_t>(s.rounds));
    out.Bool(s.done);
  }
  out.Bool(state.screened);
  out.U64(state.modes.size());
  for (const SearchMode& mode : state.modes) WriteMode(mode, out);
  out.U64(state.chains.size());
  for (const SearchChain& chain : state.chains) WriteChain(chain, out);
  out.F64(state.acceptance);
  out.I64(state.transitions);
  out.U32(static_cast<uint32_t>(state.sampled.chains));
  out.F64(state.sampled.r_hat);
  out.F64(state.sampled.effective_size);
  out.U32(static_cast<uint32_t>(state.sampled.moved_chains));
  out.U32(static_cast<uint32_t>(state.sampled.failed_curvature));
  out.I64(state.iterations);
  out.I64(state.evaluations);
  out.F64(state.seconds);
}

SearchState ReadState(ByteReader& in) {
  SearchState state;
  state.found = ReadStages(in, kStagesVersion);
  state.value = in.F64();
  const uint64_t count = in.U64();
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    SearchStart s;
    s.form = ReadForm(in, kStagesVersion);
    s.z = in.ReadVector();
    s.value = in.F64();
    s.rounds = static_cast<int>(in.U32());
    s.done = in.Bool();
    state.starts.push_back(std::move(s));
  }
  state.screened = in.Bool();
  const uint64_t modes = in.U64();
  for (uint64_t i = 0; i < modes && in.ok(); ++i) state.modes.push_back(ReadMode(in));
  const uint64_t chains = in.U64();
  for (uint64_t i = 0; i < chains && in.ok(); ++i) state.chains.push_back(ReadChain(in));
  state.acceptance = in.F64();
  state.transitions = in.I64();
  state.sampled.chains = static_cast<int>(in.U32());
  state.sampled.r_hat = in.F64();
  state.sampled.effective_size = in.F64();
  state.sampled.moved_chains = static_cast<int>(in.U32());
  state.sampled.failed_curvature = static_cast<int>(in.U32());
  state.iterations = in.I64();
  state.evaluations = in.I64();
  state.seconds = in.F64();
  return state;
}

// Sizes of a state that was read, against the model that it claims to be of.
absl::Status CheckState(const SearchState& state, const std::vector<StageParameters>& warm,
                        const std::optional<KernelFamily>& kernel, const BaselineModel& model) {
  const absl::Status bad = absl::DataLossError("state of a running fit: sizes do not fit its model");
  if (static_cast<int>(state.found.size()) > model.stages()) return bad;
  if (!warm.empty() && static_cast<int>(warm.size()) != model.stages()) return bad;
  FIDELIO_RETURN_IF_ERROR(CheckStages(state.found));
  if (state.starts.empty()) return absl::OkStatus();
  if (static_cast<int>(state.found.size()) == model.stages()) return bad;
  std::map<StageForm, Eigen::Index> sizes;  // of θ
  for (const StageForm& form : model.Forms(kernel)) {
    FIDELIO_ASSIGN_OR_RETURN(const std::shared_ptr<const GpModel> stage, model.Stage(form, state.found));
    sizes[form] = stage->parameters().size();
  }
  const auto fits = [&](const StageForm& form, const Vector& z) {
    return sizes.contains(form) && z.size() == sizes.at(form);
  };
  for (const SearchStart& s : state.starts) {
    if (!fits(s.form, s.z)) return bad;
  }
  for (const SearchMode& mode : state.modes) {
    if (!fits(mode.form, mode.z)) return bad;
    const Eigen::Index size = mode.z.size();
    if (!state.chains.empty() && (mode.hessian.rows() != size || mode.hessian.cols() != size)) return bad;
  }
  for (const SearchChain& chain : state.chains) {
    if (chain.mode < 0 || chain.mode >= static_cast<int>(state.modes.size())) return bad;
    const StageForm& form = state.modes[chain.mode].form;
    if (chain.started && !(fits(form, chain.hmc.q) && fits(form, chain.hmc.gradient))) return bad;
    for (const Vector& draw : chain.trace) {
      if (!fits(form, draw)) return bad;
    }
  }
  return absl::OkStatus();
}

// How many draws a stage of so many observations keeps.
double Draws(int64_t observations) {
  const SearchSettings settings = SettingsForStage(observations);
  return static_cast<double>(std::max(settings.draws, kChainsPerMode * settings.modes));
}

}  // namespace

struct BaselineFit::Impl {
  Dataset data;
  BaselineModel model;
  SearchRequest request;
  SharedSearchState state;

  Impl(BaselineMethod method, Dataset d, const FitOptions& options, SearchState progress)
      : data(std::move(d)), model(method, ScaleData(data)), state(std::move(progress)) {
    request.model = &model;
    request.kernel = options.kernel;
    request.point_estimate = options.point_estimate;
    request.seed = options.seed;
    request.threads = options.threads;
    request.max_seconds = options.max_seconds;
    request.max_iterations = options.max_iterations;
  }
};

BaselineFit::BaselineFit(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BaselineFit::~BaselineFit() = default;

absl::StatusOr<std::unique_ptr<BaselineFit>> BaselineFit::Create(BaselineMethod method, const Dataset& data,
                                                                 const FitOptions& options) {
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  FIDELIO_RETURN_IF_ERROR(Validate(options));
  auto impl = std::make_unique<Impl>(method, data, options, SearchState());
  FIDELIO_ASSIGN_OR_RETURN(const auto warm, WarmStartOf<BaselinePosterior>(options, data));
  if (warm.posterior != nullptr) {
    if (warm.posterior->method() != method) {
      return absl::InvalidArgumentError("warm_start: a model that another method fitted");
    }
    // With other noise parameters, the numbers would mean something else.
    if (SameNoise(warm.model->data(), data)) impl->request.warm = warm.posterior->stages();
  }
  return std::unique_ptr<BaselineFit>(new BaselineFit(std::move(impl)));
}

absl::StatusOr<std::unique_ptr<MixtureEmulator>> BaselineFit::Run(FitObserver* observer) {
  SearchRequest request = impl_->request;
  request.observer = observer;
  FIDELIO_ASSIGN_OR_RETURN(SearchResult result, RunStageSearch(request, impl_->state));
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<const Posterior> posterior, impl_->model.Posterior(result.stages));
  return FittedEmulator::Create({.data = impl_->data, .scaling = impl_->model.data().scaling, .report = result.report},
                                std::move(posterior), request.threads);
}

std::string BaselineFit::SaveState() const {
  const SearchRequest& request = impl_->request;
  ByteWriter out;
  out.U32(kBaselineRecipeVersion);
  WriteDataset(impl_->data, out);
  out.Bool(request.kernel.has_value());
  out.U32(static_cast<uint32_t>(request.kernel.value_or(KernelFamily::kRbf)));
  out.Bool(request.point_estimate);
  out.U64(request.seed);
  out.F64(request.max_seconds);
  out.I64(request.max_iterations);
  WriteStages(request.warm, out);
  WriteState(impl_->state.Copy(), out);
  return out.Seal(StateKindOf(impl_->model.method()), kStateVersion);
}

absl::StatusOr<std::unique_ptr<BaselineFit>> BaselineFit::Resume(BaselineMethod method, absl::string_view bytes,
                                                                 int threads) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader::Opened opened,
                           ByteReader::Open(bytes, StateKindOf(method), kStateVersion,
                                            absl::StrFormat("state of a running fit of method %s", NameOf(method))));
  ByteReader& in = opened.reader;
  if (const uint32_t recipe = in.U32(); recipe != kBaselineRecipeVersion) {
    return absl::FailedPreconditionError(
        absl::StrFormat("state of a running fit: made with recipe %d, this program has recipe %d; start the fit again",
                        recipe, kBaselineRecipeVersion));
  }
  Dataset data = ReadDataset(in);
  FitOptions options;
  const bool kernel_given = in.Bool();
  const auto kernel = static_cast<KernelFamily>(in.U32());
  options.kernel = kernel_given ? std::optional<KernelFamily>(kernel) : std::nullopt;
  options.point_estimate = in.Bool();
  options.seed = in.U64();
  options.max_seconds = in.F64();
  options.max_iterations = in.I64();
  options.threads = threads;
  std::vector<StageParameters> warm = ReadStages(in, kStagesVersion);
  SearchState state = ReadState(in);
  FIDELIO_RETURN_IF_ERROR(in.Finish());
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  FIDELIO_RETURN_IF_ERROR(Validate(options));
  FIDELIO_RETURN_IF_ERROR(CheckFamily(kernel));
  auto impl = std::make_unique<Impl>(method, std::move(data), options, state);
  FIDELIO_RETURN_IF_ERROR(CheckState(state, warm, options.kernel, impl->model));
  impl->request.warm = std::move(warm);
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
  return 8 * (work * threads + (joint ? total * total * Draws(static_cast<int64_t>(total)) : squares));
}

}  // namespace fidelio
