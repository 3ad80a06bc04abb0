#include "core/baseline/stage_search.h"

#include <algorithm>

#include "core/base/status_macros.h"
#include "core/baseline/baseline_priors.h"
#include "core/fit/search.h"
#include "core/gp/gp_objective.h"

namespace fidelio {
namespace {

constexpr int kChainNumbers = 256;  // per stage: more than it has chains

// A fit is as well sampled as its worst stage; one of which nothing is known makes the whole unknown.
void AddStage(const SearchResult& stage, StagesDone& done) {
  const FitReport& own = stage.report;
  FitReport& all = done.report;
  const bool first = all.chains == 0, known = (first || all.r_hat > 0) && own.r_hat > 0;
  all.r_hat = known ? std::max(all.r_hat, own.r_hat) : 0;
  all.effective_size = !known ? 0 : first ? own.effective_size : std::min(all.effective_size, own.effective_size);
  const auto before = static_cast<double>(done.transitions), now = static_cast<double>(stage.transitions);
  if (now > 0) all.acceptance = (before * all.acceptance + now * own.acceptance) / (before + now);
  done.transitions += stage.transitions;
  all.chains += own.chains;
  all.moved_chains += own.moved_chains;
  all.failed_curvature += own.failed_curvature;
  all.log_posterior += own.log_posterior;
  all.evaluations = own.evaluations;  // those of the whole fit until now, as the next
  all.seconds = own.seconds;
}

// A warm start of the stage, where it has the form.
std::vector<SearchStart> WarmStarts(const StageTarget& target, const StageDraw& best) {
  const auto form = std::find(target.forms().begin(), target.forms().end(), best.form);
  const int structure = static_cast<int>(form - target.forms().begin());
  if (form == target.forms().end() || best.theta.size() != target.parameters(structure).size()) return {};
  return {{.structure = structure, .z = target.parameters(structure).Whitened(best.theta)}};
}

}  // namespace

absl::StatusOr<StageTarget> StageTarget::Create(const BaselineModel& model, const std::optional<KernelFamily>& kernel,
                                                const std::vector<StageParameters>& before, uint64_t seed) {
  StageTarget target(model, seed);
  target.forms_ = model.Forms(kernel);
  std::sort(target.forms_.begin(), target.forms_.end());
  for (const StageForm& form : target.forms_) {
    FIDELIO_ASSIGN_OR_RETURN(std::shared_ptr<const GpModel> stage, model.Stage(form, before));
    target.models_.push_back(std::move(stage));
  }
  return target;
}

std::unique_ptr<Objective> StageTarget::NewObjective(int structure) const {
  return std::make_unique<GpObjective>(*models_[structure]);
}

absl::Status StageTarget::FailureAt(int structure, const Vector& z) const {
  GpObjective objective(*models_[structure]);
  double value;
  objective.Evaluate(z, &value, nullptr);
  return objective.status();
}

absl::StatusOr<StagesDone> RunStageSearch(const BaselineModel& model, const FitOptions& options,
                                          const std::vector<StageParameters>& warm, FitBudget& budget,
                                          StageProgress& progress) {
  const int stages = model.stages();
  StagesDone done = progress.Copy().done;
  for (int stage = static_cast<int>(done.found.size()); stage < stages; ++stage) {
    FIDELIO_ASSIGN_OR_RETURN(const StageTarget target,
                             StageTarget::Create(model, options.kernel, done.found, options.seed));
    SearchRequest request{.target = target,
                          .settings = StageSettings(target.observations()),
                          .seed = options.seed,
                          .first_chain = kChainNumbers * stage,
                          .threads = options.threads};
    if (options.point_estimate) request.settings.chains = 0;
    if (!warm.empty()) request.extra_starts = WarmStarts(target, warm[stage].best);
    const int64_t left = std::max<int64_t>(0, options.max_iterations - done.iterations);
    request.max_iterations = FitBudget::Share(left, stages - stage, 0);
    budget.SetPart(static_cast<double>(stage) / stages, 1.0 / stages, done.report.log_posterior);
    FIDELIO_ASSIGN_OR_RETURN(const SearchResult result, RunSearch(request, budget, progress.search()));
    const auto as_stage = [&](const SearchDraw& draw) {
      return StageDraw{.form = target.forms()[draw.structure], .theta = draw.theta, .weight = draw.weight};
    };
    StageParameters found{.best = as_stage(result.best), .draws = {}};
    for (const SearchDraw& draw : result.draws) found.draws.push_back(as_stage(draw));
    done.found.push_back(std::move(found));
    AddStage(result, done);
    done.iterations += IterationsOf(progress.search().Copy());
    progress.Advance(done);
  }
  return done;
}

}  // namespace fidelio
