// ModelService: inputs for first runs, which need no revision.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/design/initial_design.h"
#include "server/model/core_models.h"
#include "server/model/design_space.h"
#include "server/model/model_service.h"
#include "server/model/service_impl.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

absl::Status CheckInitialLevel(int64_t level, const ModelSpec& spec, absl::string_view field) {
  const auto fidelities = static_cast<int64_t>(spec.fidelities.size());
  if (level >= 0 && level < fidelities) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": ", level, ", but the model has the levels 0 to ", fidelities - 1));
}

absl::Status CheckInitialQuery(absl::string_view model, const ModelSpec& spec, const InitialDesignQuery& query) {
  if (query.counts.empty()) return absl::InvalidArgumentError("counts: none, but at least one fidelity is required");
  std::vector<bool> seen(spec.fidelities.size(), false);
  for (size_t i = 0; i < query.counts.size(); ++i) {
    const auto [level, count] = query.counts[i];
    const std::string field = absl::StrCat("counts[", i, "]");
    FIDELIO_RETURN_IF_ERROR(CheckInitialLevel(level, spec, absl::StrCat(field, ".level")));
    if (seen[static_cast<size_t>(level)]) {
      return absl::InvalidArgumentError(absl::StrCat(field, ".level: ", level, ", which is given twice"));
    }
    seen[static_cast<size_t>(level)] = true;
    if (count < 1 || count > kMostInitialRuns) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, ".count: ", count, ", but 1 to ", kMostInitialRuns, " are allowed"));
    }
  }
  for (size_t i = 0; i < query.pending.size(); ++i) {
    const std::string field = absl::StrCat("pending[", i, "]");
    FIDELIO_RETURN_IF_ERROR(CheckInitialLevel(query.pending[i].level, spec, absl::StrCat(field, ".level")));
    const Eigen::Index columns = query.pending[i].inputs.cols();
    if (columns == spec.input_dimension) continue;
    return absl::InvalidArgumentError(absl::StrCat(field, ".inputs: ", columns, " columns, but model ", Quoted(model),
                                                   " has input dimension ", spec.input_dimension));
  }
  return absl::OkStatus();
}

void Append(const Matrix& more, Matrix& to) {
  const Eigen::Index n = to.rows();
  to.conservativeResize(n + more.rows(), Eigen::NoChange);
  to.bottomRows(more.rows()) = more;
}

}  // namespace

absl::StatusOr<InitialRuns> ModelService::InitialDesign(absl::string_view model, const InitialDesignQuery& query,
                                                        Check check) const {
  FIDELIO_ASSIGN_OR_RETURN(const IndexedModelPtr found, impl_->context.Find(model));
  const ModelSpec& spec = found->stored.spec;
  FIDELIO_RETURN_IF_ERROR(CheckInitialQuery(model, spec, query));
  ModelSpec of_all = spec;
  of_all.kind = ModelKind::kMfDgp;  // whose data are those of all levels
  InitialRuns answer;
  answer.data_version = found->record.data_version;
  absl::StatusOr<Dataset> data = ReadDataset(impl_->context.store(), model, of_all, answer.data_version);
  if (!data.ok()) return impl_->context.Explain(data.status(), model);

  const InputBox box = DesignBox(*data);
  if (box.lower.size() == 0 || box.lower == box.upper) {
    return PreconditionError("NO_INPUT_BOX", absl::StrCat("models/", model),
                             box.lower.size() == 0 ? "has no input_box and no observations, so that there is no range "
                                                     "to design in"
                                                   : "has no input_box, and all its observations have the same input, "
                                                     "so that there is no range to design in",
                             "set input_box with UpdateModel, or add observations");
  }
  std::vector<InitialLevel> levels(spec.fidelities.size());
  for (size_t t = 0; t < levels.size(); ++t) levels[t].existing = std::move(data->levels[t].x);
  for (const InitialDesignQuery::Pending& pending : query.pending) {
    Append(pending.inputs, levels[static_cast<size_t>(pending.level)].existing);
  }
  for (size_t i = 0; i < query.counts.size(); ++i) {
    InitialLevel& level = levels[static_cast<size_t>(query.counts[i].level)];
    level.count = static_cast<int>(query.counts[i].count);
    level.field = absl::StrCat("counts[", i, "].count");
  }
  FIDELIO_RETURN_IF_ERROR(check());
  InitialDesignOptions options = query.options;
  options.check = check;
  FIDELIO_ASSIGN_OR_RETURN(std::vector<Matrix> designs, fidelio::InitialDesign(box, levels, options));
  for (size_t t = 0; t < levels.size(); ++t) {
    if (levels[t].count == 0) continue;
    answer.total_cost += spec.fidelities[t].cost * levels[t].count;
    answer.levels.push_back(
        {.level = static_cast<int>(t), .fidelity = spec.fidelities[t].name, .inputs = std::move(designs[t])});
  }
  return answer;
}

}  // namespace fidelio
