#include "client/cli/model_options.h"

#include "absl/strings/str_cat.h"
#include "client/cli/text.h"
#include "client/cpp/names.h"

namespace fidelio::cli {

const TypedNames& ModelFieldNames() {
  static const auto* names = [] {
    auto* all = new TypedNames(VariableNames());
    all->insert(all->end(), {{"model_id", "NAME"},
                             {"model.name", "NAME"},
                             {"model.input_dimension", "--inputs"},
                             {"model.fidelities[].name", "--fidelities"},
                             {"model.fidelities[].cost", "--costs"},
                             {"model.fidelities", "--fidelities"},
                             {"model.input_box.lower", "--lower"},
                             {"model.input_box.upper", "--upper"},
                             {"model.input_box", "--lower, --upper"},
                             {"model.description", "--description"},
                             {"model.kind", "--kind"},
                             {"model.output_transform.kind", "--transform"},
                             {"model.output_transform", "--bounds"}});
    return all;
  }();
  return *names;
}

absl::Status ApplyOptions(const ModelOptions& options, v1::Model* model) {
  if (HasRanges(options.variables) && (!options.lower.empty() || !options.upper.empty())) {
    return absl::InvalidArgumentError(absl::StrCat(options.lower.empty() ? "--upper" : "--lower",
                                                   ": given, but --input has ranges: say the box once"));
  }
  if (absl::Status status = ApplyVariables(options.variables, model); !status.ok()) return status;
  if (options.keep_revisions) model->set_keep_revisions(*options.keep_revisions);
  const auto names = ParseNames("--fidelities", options.fidelities);
  const auto costs = ParseNumbers("--costs", options.costs);
  const auto lower = ParseNumbers("--lower", options.lower);
  const auto upper = ParseNumbers("--upper", options.upper);
  for (const absl::Status& status : {names.status(), costs.status(), lower.status(), upper.status()}) {
    if (!status.ok()) return status;
  }
  const auto T = static_cast<size_t>(model->fidelities_size());
  if (T > 0 && !names->empty() && names->size() != T) {
    return absl::InvalidArgumentError(absl::StrCat("--fidelities: ", names->size(), " names, but model \"",
                                                   client::ShortName(model->name()), "\" has ", T,
                                                   " fidelities, whose number can't change"));
  }
  for (size_t t = 0; t < names->size(); ++t) {
    (t < T ? model->mutable_fidelities(static_cast<int>(t)) : model->add_fidelities())->set_name((*names)[t]);
  }
  if (!costs->empty() && static_cast<int>(costs->size()) != model->fidelities_size()) {
    return absl::InvalidArgumentError(absl::StrCat("--costs: ", costs->size(),
                                                   costs->size() == 1 ? " number" : " numbers", ", but there are ",
                                                   model->fidelities_size(), " fidelities"));
  }
  if (!model->has_input_box() && lower->empty() != upper->empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(lower->empty() ? "--lower: missing, but --upper" : "--upper: missing, but --lower",
                     " is given: a box has both corners"));
  }
  for (size_t t = 0; t < costs->size(); ++t) model->mutable_fidelities(static_cast<int>(t))->set_cost((*costs)[t]);
  if (!lower->empty()) {
    model->mutable_input_box()->mutable_lower()->Assign(lower->begin(), lower->end());
  }
  if (!upper->empty()) {
    model->mutable_input_box()->mutable_upper()->Assign(upper->begin(), upper->end());
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::Model> ToModel(const CreateOptions& options) {
  v1::Model model;
  model.set_input_dimension(options.inputs);
  model.set_description(options.description);
  if (absl::Status status = ApplyOptions(options, &model); !status.ok()) return status;
  model.mutable_output_transform()->set_kind(options.transform);
  const auto bounds = ParseNumbers("--bounds", options.bounds);
  if (!bounds.ok()) return bounds.status();
  if ((options.transform == v1::OUTPUT_TRANSFORM_KIND_BOUNDED) == bounds->empty()) {
    return absl::InvalidArgumentError(
        bounds->empty() ? "--bounds: missing, but --transform bounded needs what outputs lie between: 0,100"
                        : "--bounds: given, but only --transform bounded has bounds");
  }
  if (!bounds->empty()) {
    if (bounds->size() != 2) {
      return absl::InvalidArgumentError(absl::StrCat("--bounds: \"", options.bounds, "\", must be LOWER,UPPER"));
    }
    model.mutable_output_transform()->set_lower((*bounds)[0]);
    model.mutable_output_transform()->set_upper((*bounds)[1]);
  }
  return model;
}

}  // namespace fidelio::cli
