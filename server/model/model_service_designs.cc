// ModelService: designs and diagnostics, by a revision.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/design/dpp_design.h"
#include "core/design/suggest.h"
#include "core/emulator/fit_warnings.h"
#include "server/model/core_models.h"
#include "server/model/design_space.h"
#include "server/model/model_service.h"
#include "server/model/observation_history.h"
#include "server/model/service_impl.h"
#include "server/model/shortfall_reason.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

using Eigen::Index;

// What a design needs of a model besides its revision.
struct Ground {
  ModelSpec spec;
  Dataset data;  // its box is the model's; its observations are those of the revision still in use, if they are needed
};

absl::StatusOr<Ground> ReadGround(ServiceContext& context, const LoadedRevision& revision, bool observations) {
  FIDELIO_ASSIGN_OR_RETURN(const IndexedModelPtr found, context.Find(revision.model()));
  Ground ground{.spec = found->stored.spec, .data = {}};
  const ModelSpec& spec = ground.spec;
  ground.data.box = spec.input_box;
  if (spec.input_dimension != revision.input_dimension() || found->fidelities() != revision.fidelities() ||
      spec.kind != revision.info().kind) {
    return ConcurrentChangeError(absl::StrCat("models/", revision.model()),
                                 "was deleted and created again during the call");
  }
  if (!observations && spec.input_box) return ground;
  absl::StatusOr<Dataset> data =
      ReadDataset(context.store(), revision.model(), spec, {revision.data_version(), found->record.data_version});
  if (!data.ok()) return context.Explain(data.status(), revision.model());
  ground.data = *std::move(data);
  const bool some = std::any_of(ground.data.levels.begin(), ground.data.levels.end(),
                                [](const LevelData& level) { return level.x.rows() > 0; });
  if (!some && !found->stored.withdrawn.empty()) {
    return PreconditionError("NO_DATA", absl::StrCat("models/", revision.model()),
                             "has withdrawn all observations that this revision knows",
                             "set input_box with UpdateModel, or add observations and fit");
  }
  if (!some) {
    return ConcurrentChangeError(absl::StrCat("models/", revision.model()),
                                 "was deleted and created again during the call");
  }
  return ground;
}

// The inputs of all levels.
Matrix ObservedInputs(const Dataset& data) {
  Index n = 0;
  for (const LevelData& level : data.levels) n += level.x.rows();
  Matrix x(n, data.dimension());
  n = 0;
  for (const LevelData& level : data.levels) {
    x.middleRows(n, level.x.rows()) = level.x;
    n += level.x.rows();
  }
  return x;
}

// Candidates and the points after them in the same sequence, which fill the box together.
struct Points {
  Matrix candidates;
  Matrix targets;
};

absl::StatusOr<Points> MakePoints(absl::string_view model, const Dataset& data, const CandidateSource& source,
                                  int targets, uint64_t seed) {
  const InputBox box = DesignBox(data);
  const bool given = source.given.rows() > 0;
  if (!given && box.lower == box.upper) {
    return PreconditionError("NO_INPUT_BOX", absl::StrCat("models/", model),
                             "has no input_box, and all its observations have the same input, so there is no range "
                             "for candidates",
                             "set input_box with UpdateModel, or give candidates");
  }
  const int made = given ? 0 : source.count;
  FIDELIO_ASSIGN_OR_RETURN(const Matrix points, FillBox(box, made + targets, seed));
  return Points{.candidates = given ? source.given : Matrix(points.topRows(made)),
                .targets = points.bottomRows(targets)};
}

}  // namespace

absl::StatusOr<Design> ModelService::SampleDpp(const LoadedRevision& revision, const DppQuery& query,
                                               Check check) const {
  DppDesignOptions options = query.options;
  FIDELIO_ASSIGN_OR_RETURN(options.level, revision.EmulatorLevel(query.level, "level"));
  const bool given = query.source.given.rows() > 0;
  Matrix candidates = query.source.given;
  if (!given || query.exclude_observed) {
    FIDELIO_ASSIGN_OR_RETURN(const Ground ground, ReadGround(impl_->context, revision, query.exclude_observed));
    if (query.exclude_observed) options.excluded = ground.data.levels[static_cast<size_t>(options.level)].x;
    if (!given) {
      FIDELIO_ASSIGN_OR_RETURN(Points points,
                               MakePoints(revision.model(), ground.data, query.source, 0, query.options.seed));
      candidates = std::move(points.candidates);
    }
  }
  FIDELIO_RETURN_IF_ERROR(check());
  options.check = check;
  return DesignByDpp(revision.emulator(), candidates, options);
}

absl::StatusOr<SuggestedRuns> ModelService::Suggest(const LoadedRevision& revision, const SuggestQuery& query,
                                                    Check check) const {
  SuggestOptions options = query.options;
  for (size_t i = 0; i < query.levels.size(); ++i) {
    FIDELIO_ASSIGN_OR_RETURN(const int level, revision.EmulatorLevel(query.levels[i], absl::StrCat("levels[", i, "]")));
    options.levels.push_back(level);
  }
  const bool improvement = options.criterion == Criterion::kExpectedImprovement;
  FIDELIO_ASSIGN_OR_RETURN(const Ground ground, ReadGround(impl_->context, revision, improvement));
  const std::vector<FidelitySpec>& fidelities = ground.spec.fidelities;
  for (int t = 0; t < revision.emulator().levels(); ++t) {
    options.costs.push_back(fidelities[static_cast<size_t>(revision.ModelLevel(t))].cost);
  }
  FIDELIO_ASSIGN_OR_RETURN(const Points points,
                           MakePoints(revision.model(), ground.data, query.source, query.target_count, query.seed));
  FIDELIO_RETURN_IF_ERROR(check());
  options.check = check;
  FIDELIO_ASSIGN_OR_RETURN(const Suggestions chosen,
                           fidelio::Suggest(revision.emulator(), points.candidates, points.targets,
                                            improvement ? ObservedInputs(ground.data) : Matrix(), options));
  SuggestedRuns answer{.variance_before = chosen.variance_before, .variance_after = chosen.variance_after};
  for (const Suggestion& run : chosen.runs) {
    const int level = revision.ModelLevel(run.level);
    answer.runs.push_back({.input = points.candidates.row(run.candidate).transpose(),
                           .level = level,
                           .fidelity = fidelities[static_cast<size_t>(level)].name,
                           .cost = run.cost,
                           .value = run.value,
                           .candidate = run.candidate});
    answer.total_cost += run.cost;
  }
  std::vector<std::string> names;
  for (int t = 0; t < revision.emulator().levels(); ++t) {
    names.push_back(fidelities[static_cast<size_t>(revision.ModelLevel(t))].name);
  }
  answer.shortfall_reason = ShortfallReason(chosen, options, points.candidates.rows(), answer.total_cost, names);
  return answer;
}

absl::StatusOr<int64_t> ModelService::Impl::LeaveOutWithdrawn(const LoadedRevision& revision,
                                                              std::vector<LeaveOneOut>& left_out, Dataset& data) {
  FIDELIO_ASSIGN_OR_RETURN(const IndexedModelPtr found, context.Find(revision.model()));
  const int64_t known = revision.data_version();
  const int64_t withdrawn = WithdrawnSince(found->stored.withdrawn, known);
  if (withdrawn == 0) return 0;
  const absl::StatusOr<std::vector<std::vector<bool>>> gone =
      ReadWithdrawnSince(context.store(), found->record, found->stored, known);
  if (!gone.ok()) return ExplainFor(*found, gone.status());
  for (size_t t = 0; t < left_out.size(); ++t) {
    const std::vector<bool>& level = (*gone)[static_cast<size_t>(revision.ModelLevel(static_cast<int>(t)))];
    std::vector<Index> kept;
    for (size_t i = 0; i < level.size(); ++i) {
      if (!level[i]) kept.push_back(static_cast<Index>(i));
    }
    // Leave-one-out of large models predicts some observations only, which can't be told apart here.
    if (left_out[t].y.size() != static_cast<Index>(level.size()) || kept.size() == level.size()) continue;
    LeaveOneOut& l = left_out[t];
    for (Vector* values : {&l.y, &l.mean, &l.variance, &l.cdf, &l.log_density, &l.median, &l.mean_cdf}) {
      *values = Vector((*values)(kept));
    }
    if (!l.group.empty()) {
      std::vector<int> group;
      for (const Index i : kept) group.push_back(l.group[static_cast<size_t>(i)]);
      l.group = std::move(group);
    }
    LevelData& of = data.levels[t];
    of.x = Matrix(of.x(kept, Eigen::all));
    of.y = Vector(of.y(kept));
    if (of.noise_variance.size() > 0) of.noise_variance = Vector(of.noise_variance(kept));
  }
  return withdrawn;
}

absl::StatusOr<ModelDiagnosis> ModelService::Diagnose(const LoadedRevision& revision, Check check) const {
  FIDELIO_ASSIGN_OR_RETURN(const ModelInfo model, GetModel(revision.model()));
  if (static_cast<int>(model.spec.fidelities.size()) != revision.fidelities()) {
    return ConcurrentChangeError(absl::StrCat("models/", revision.model()),
                                 "was deleted and created again during the call");
  }
  FIDELIO_RETURN_IF_ERROR(check());
  FIDELIO_ASSIGN_OR_RETURN(std::vector<LeaveOneOut> left_out, revision.emulator().LeaveOneOutPredictions());
  Dataset data = FittedModel(revision.emulator()).data();
  FIDELIO_ASSIGN_OR_RETURN(const int64_t withdrawn, impl_->LeaveOutWithdrawn(revision, left_out, data));
  ModelDiagnosis answer{.withdrawn = withdrawn};
  VerdictContext context{.model = &revision.emulator(), .data = &data};
  for (const VariableSpec& input : model.spec.inputs) context.input_names.push_back(input.name);
  for (size_t t = 0; t < left_out.size(); ++t) {
    const int level = revision.ModelLevel(static_cast<int>(t));
    const std::string& fidelity = model.spec.fidelities[static_cast<size_t>(level)].name;
    answer.fidelities.push_back({.level = level, .fidelity = fidelity, .diagnostics = fidelio::Diagnose(left_out[t])});
    context.fidelities.push_back(fidelity);
  }
  FIDELIO_RETURN_IF_ERROR(check());
  FIDELIO_ASSIGN_OR_RETURN(answer.verdict, JudgeModel(context, left_out));
  if (revision.info().report) {
    for (std::string& warning : FitWarnings(*revision.info().report)) {
      answer.verdict.warnings.push_back(std::move(warning));
    }
  }
  if (withdrawn > 0) {
    answer.verdict.warnings.push_back(absl::StrCat(
        "This revision still knows ", withdrawn, withdrawn == 1 ? " observation" : " observations", " that ",
        withdrawn == 1 ? "was" : "were",
        " withdrawn or corrected since; the figures leave them out, but its predictions do not. Fit again."));
  }
  return answer;
}

}  // namespace fidelio
