// The state of a running fit, version 2 (the envelope is in core/base/bytes.h). Payload, in this order:
//
//   u32 recipe version; u64 levels, per level u64 observations
//   options, as in core/fit/fit_bytes.h; u32 neighbours; warm start and progress of the stack, as in neighbour_fit_state.cc
//   work; searches of the sketch and of the upper levels, as in core/fit/fit_bytes.h
#include "core/neighbour/neighbour_dgp_fit.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/fit/fit_bytes.h"
#include "core/neighbour/neighbour_dgp_posterior.h"
#include "core/neighbour/neighbour_fit_state.h"
#include "core/neighbour/neighbour_priors.h"
#include "core/neighbour/stack_fit.h"
#include "core/neighbour/upper_fit.h"

namespace fidelio {
namespace {

constexpr uint32_t kStateVersion = 2;

}  // namespace

struct NeighbourDgpFit::Impl {
  Dataset data;
  FitOptions options;  // without warm_start
  int neighbours;
  NeighbourWarmStart warm;
  FitBudget budget;
  SharedNeighbourState stack_state;
  SharedSearchState sketch_state, upper_state;

  Impl(Dataset d, const FitOptions& o, int m, const FitWork& work = {}, NeighbourFitState stack = {},
       SearchState sketch = {}, SearchState upper = {})
      : data(std::move(d)),
        options(o),
        neighbours(m),
        budget(options, work),
        stack_state(std::move(stack)),
        sketch_state(std::move(sketch)),
        upper_state(std::move(upper)) {
    options.warm_start = nullptr;
  }

  absl::StatusOr<std::unique_ptr<MixtureEmulator>> Run(FitObserver* observer) {
    const Scaling scaling = ScaleData(data).scaling;
    budget.Begin(observer);
    budget.SetPart(0, kStackShare);
    FIDELIO_ASSIGN_OR_RETURN(
        std::unique_ptr<NeighbourStack> stack,
        FitStack({.data = data, .scaling = scaling, .options = options, .warm = warm.layers, .neighbours = neighbours},
                 budget, stack_state));
    const NeighbourFitState state = stack_state.Copy();
    UpperFitResult upper;
    if (stack->levels() < static_cast<int>(data.levels.size())) {
      FIDELIO_ASSIGN_OR_RETURN(upper, FitUpper({.stack = *stack,
                                                .data = data,
                                                .scaling = scaling,
                                                .options = options,
                                                .warm = warm,
                                                .iterations = state.iterations},
                                               budget, sketch_state, upper_state));
    }
    upper.report.evaluations = budget.used().evaluations;
    upper.report.seconds = budget.seconds();
    for (const NeighbourLevelState& level : state.levels) upper.report.log_posterior -= level.best().value;
    FIDELIO_ASSIGN_OR_RETURN(auto posterior, NeighbourDgpPosterior::Build(data, scaling, std::move(stack),
                                                                          upper.recipes, upper.draws, options.threads));
    return FittedEmulator::Create({.data = data, .scaling = scaling, .report = upper.report}, std::move(posterior),
                                  options.threads);
  }
};

NeighbourDgpFit::NeighbourDgpFit(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NeighbourDgpFit::~NeighbourDgpFit() = default;

absl::StatusOr<std::unique_ptr<NeighbourDgpFit>> NeighbourDgpFit::Create(const Dataset& data, const FitOptions& options,
                                                                         int neighbours) {
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  FIDELIO_RETURN_IF_ERROR(Validate(options));
  if (neighbours < 1) {
    return absl::InvalidArgumentError(absl::StrFormat("neighbours: %d, want at least 1", neighbours));
  }
  auto impl = std::make_unique<Impl>(data, options, neighbours);
  FIDELIO_ASSIGN_OR_RETURN(const auto warm, WarmStartOf<NeighbourDgpPosterior>(options, data));
  if (warm.posterior != nullptr) {
    const NeighbourDgpParameters known = warm.posterior->parameters();
    const bool family = !options.kernel || known.layers[0].kernel == *options.kernel;
    // A warm start of another stack, or with other parameters, can't be used.
    if (static_cast<int>(known.layers.size()) == StackedLevels(data) && SameNoise(warm.model->data(), data) && family) {
      impl->warm = {known.layers, known.recipes, known.draws};
    }
  }
  return std::unique_ptr<NeighbourDgpFit>(new NeighbourDgpFit(std::move(impl)));
}

absl::StatusOr<std::unique_ptr<MixtureEmulator>> NeighbourDgpFit::Run(FitObserver* observer) {
  const ThreadPool pool;  // evaluations are short
  return impl_->Run(observer);
}

std::string NeighbourDgpFit::SaveState() const {
  ByteWriter out;
  out.U32(kUpperRecipeVersion);
  out.U64(impl_->data.levels.size());
  for (const LevelData& level : impl_->data.levels) out.U64(static_cast<uint64_t>(level.y.size()));
  out(impl_->options);
  out.U32(static_cast<uint32_t>(impl_->neighbours));
  out(impl_->warm);
  out(impl_->stack_state.Copy());
  out(impl_->budget.used());
  out(impl_->sketch_state.Copy());
  out(impl_->upper_state.Copy());
  return out.Seal(kNeighbourDgpFitKind, kStateVersion);
}

absl::StatusOr<std::unique_ptr<NeighbourDgpFit>> NeighbourDgpFit::Resume(absl::string_view bytes, const Dataset& data,
                                                                         int threads) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader in, OpenState(bytes, kNeighbourDgpFitKind, kStateVersion, kUpperRecipeVersion));
  const uint64_t levels = in.U64();
  bool same = levels == data.levels.size();
  for (uint64_t t = 0; t < levels && in.ok(); ++t) {
    const uint64_t count = in.U64();
    same = same && count == static_cast<uint64_t>(data.levels[t].y.size());
  }
  FitOptions options = in.Read<FitOptions>();
  options.threads = threads;
  const auto neighbours = static_cast<int>(in.U32());
  auto warm = in.Read<NeighbourWarmStart>();
  auto stack = in.Read<NeighbourFitState>();
  const FitWork work = in.Read<FitWork>();
  auto sketch = in.Read<SearchState>(), upper = in.Read<SearchState>();
  FIDELIO_RETURN_IF_ERROR(in.Finish());
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  FIDELIO_RETURN_IF_ERROR(Validate(options));
  if (!same) return absl::InvalidArgumentError("data: not those that the saved fit was made with");
  for (size_t t = 0; t < stack.levels.size(); ++t) {
    const bool there = t < data.levels.size() && stack.levels[t].metric.size() == data.dimension() &&
                       (!stack.levels[t].done || !stack.levels[t].candidates.empty());
    if (!there) return absl::DataLossError("state of a running fit: sizes do not fit its data");
    const NeighbourLayout layout(data.dimension(), t == 0, data.levels[t].noise_variance.size() == 0);
    for (const NeighbourLevelState::Candidate& c : stack.levels[t].candidates) {
      if (c.layer.theta.size() == layout.parameters.size() && IsKernelFamily(c.layer.kernel)) continue;
      return absl::DataLossError("state of a running fit: sizes do not fit its data");
    }
  }
  bool warm_fits = warm.layers.empty() || static_cast<int>(warm.layers.size()) == StackedLevels(data);
  for (size_t t = 0; t < warm.layers.size() && warm_fits; ++t) {
    const NeighbourLayout layout(data.dimension(), t == 0, data.levels[t].noise_variance.size() == 0);
    warm_fits = warm.layers[t].theta.size() == layout.parameters.size() && IsKernelFamily(warm.layers[t].kernel);
  }
  for (const MomentDraw& draw : warm.draws) {
    warm_fits = warm_fits && draw.structure >= 0 && draw.structure < static_cast<int>(warm.recipes.size());
  }
  if (!warm_fits) return absl::DataLossError("state of a running fit: its warm start is not one of the model");
  auto impl = std::make_unique<Impl>(data, options, std::max(1, neighbours), work, std::move(stack), std::move(sketch),
                                     std::move(upper));
  impl->warm = std::move(warm);
  return std::unique_ptr<NeighbourDgpFit>(new NeighbourDgpFit(std::move(impl)));
}

double NeighbourDgpFit::MemoryBytes(const std::vector<int64_t>& counts, int dimension, int threads) {
  int stacked = 1;
  for (size_t t = 1; t < counts.size(); ++t) {
    if (counts[t] > kLargeLevel) stacked = static_cast<int>(t) + 1;
  }
  std::vector<int> large;
  for (int t = 0; t < stacked; ++t) large.push_back(static_cast<int>(std::min<int64_t>(counts[t], 1 << 30)));
  const int centres = LowRankFor(dimension, large);
  double bytes = 64 << 20, upper = 0;  // the conditionals, and small things
  for (int t = 0; t < static_cast<int>(counts.size()); ++t) {
    // The data, a copy of them in the model, and one that is scaled; trees of a permutation while neighbours are found.
    bytes += static_cast<double>(counts[t]) * 8 * (6 * dimension + 8);
    bytes += static_cast<double>(
        NeighbourStack::MemoryBytes(counts[t], std::min(t, stacked), dimension, kDefaultNeighbours, centres));
    if (t >= stacked) upper += static_cast<double>(counts[t]);
  }
  // Each thread has the covariances of a structure with their adjoints; the result has the factors of some draws.
  return bytes + 8 * upper * upper * (6.0 * ResolveThreads(threads) + 12);
}

}  // namespace fidelio
