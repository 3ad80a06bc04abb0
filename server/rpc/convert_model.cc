#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/rpc/convert.h"
#include "server/rpc/enums.h"
#include "server/rpc/names.h"
#include "server/rpc/text.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

constexpr size_t kMaxQuarantineBytes = 2000;
constexpr absl::string_view kUpdatable = "description, input_box, fidelities, inputs, outputs, keep_revisions";

std::optional<InputBox> ToBox(const v1::Model& message) {
  if (!message.has_input_box()) return std::nullopt;
  const auto vector = [](const google::protobuf::RepeatedField<double>& values) {
    return Vector(Eigen::Map<const Vector>(values.data(), values.size()));
  };
  return InputBox{vector(message.input_box().lower()), vector(message.input_box().upper())};
}

std::vector<FidelitySpec> ToFidelities(const v1::Model& message) {
  std::vector<FidelitySpec> fidelities;
  fidelities.reserve(static_cast<size_t>(message.fidelities_size()));
  for (const v1::Fidelity& fidelity : message.fidelities()) {
    fidelities.push_back({.name = fidelity.name(), .cost = fidelity.has_cost() ? fidelity.cost() : 1.0});
  }
  return fidelities;
}

template <typename M>
VariableSpec ToVariable(const M& message) {
  return {.name = message.name(), .unit = message.unit(), .description = message.description()};
}

std::vector<VariableSpec> ToInputs(const v1::Model& message) {
  std::vector<VariableSpec> inputs;
  inputs.reserve(static_cast<size_t>(message.inputs_size()));
  for (const v1::Input& input : message.inputs()) inputs.push_back(ToVariable(input));
  return inputs;
}

absl::StatusOr<std::optional<VariableSpec>> ToOutput(const v1::Model& message, absl::string_view field) {
  if (message.outputs_size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ".outputs: ", message.outputs_size(), " outputs, want at most 1: a model has one output"));
  }
  if (message.outputs().empty()) return std::optional<VariableSpec>();
  return std::optional<VariableSpec>(ToVariable(message.outputs(0)));
}

template <typename M>
void ToMessage(const VariableSpec& variable, M* message) {
  message->set_name(variable.name);
  message->set_unit(variable.unit);
  message->set_description(variable.description);
}

}  // namespace

absl::StatusOr<ModelSpec> ToModelSpec(const v1::Model& message, absl::string_view field) {
  ModelSpec spec;
  spec.description = message.description();
  spec.input_dimension = message.input_dimension();
  spec.input_box = ToBox(message);
  spec.fidelities = ToFidelities(message);
  FIDELIO_ASSIGN_OR_RETURN(spec.output_transform.kind,
                           ToEnum(message.output_transform().kind(), OutputTransformKind::kIdentity,
                                  absl::StrCat(field, ".output_transform.kind")));
  spec.output_transform.lower = message.output_transform().lower();
  spec.output_transform.upper = message.output_transform().upper();
  spec.kind = OrDefault(message.kind(), ModelKind::kMfDgp);
  spec.inputs = ToInputs(message);
  FIDELIO_ASSIGN_OR_RETURN(spec.output, ToOutput(message, field));
  spec.keep_revisions = message.keep_revisions();
  return spec;
}

absl::StatusOr<ModelUpdate> ToModelUpdate(const v1::UpdateModelRequest& request) {
  ModelUpdate update;
  if (request.update_mask().paths().empty()) {
    return absl::InvalidArgumentError(absl::StrCat("update_mask: empty, but must name at least one of ", kUpdatable));
  }
  for (int i = 0; i < request.update_mask().paths_size(); ++i) {
    const std::string& path = request.update_mask().paths(i);
    if (path == "description") {
      update.description = request.model().description();
    } else if (path == "input_box") {
      update.input_box = ToBox(request.model());
    } else if (path == "fidelities") {
      update.fidelities = ToFidelities(request.model());
    } else if (path == "inputs") {
      update.inputs = ToInputs(request.model());
    } else if (path == "outputs") {
      FIDELIO_ASSIGN_OR_RETURN(update.output, ToOutput(request.model(), "model"));
    } else if (path == "keep_revisions") {
      update.keep_revisions = request.model().keep_revisions();
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("update_mask.paths[", i, "]: ", Quoted(path), ", but must be one of ", kUpdatable));
    }
  }
  return update;
}

void ToMessage(const ModelInfo& model, v1::Model* message) {
  message->set_name(ModelName(model.name));
  message->set_description(model.spec.description);
  message->set_input_dimension(static_cast<uint32_t>(model.spec.input_dimension));
  if (model.spec.input_box.has_value()) {
    const InputBox& box = *model.spec.input_box;
    message->mutable_input_box()->mutable_lower()->Add(box.lower.begin(), box.lower.end());
    message->mutable_input_box()->mutable_upper()->Add(box.upper.begin(), box.upper.end());
  }
  for (const FidelitySpec& fidelity : model.spec.fidelities) {
    v1::Fidelity* entry = message->add_fidelities();
    entry->set_name(fidelity.name);
    entry->set_cost(fidelity.cost);
  }
  for (const VariableSpec& input : model.spec.inputs) ToMessage(input, message->add_inputs());
  if (model.spec.output) ToMessage(*model.spec.output, message->add_outputs());
  message->set_keep_revisions(static_cast<uint32_t>(model.spec.keep_revisions));
  message->set_withdrawn_count(model.withdrawn_count);
  message->set_current_revision_withdrawn_count(model.current_revision_withdrawn_count);
  message->set_etag(model.etag);
  message->set_data_version(model.data_version);
  message->mutable_observation_counts()->Add(model.observation_counts.begin(), model.observation_counts.end());
  if (model.current_revision > 0) message->set_current_revision(RevisionName(model.name, model.current_revision));
  ToMessage(model.created, message->mutable_create_time());
  ToMessage(model.updated, message->mutable_update_time());
  message->set_state(static_cast<v1::ModelState>(model.state));
  message->set_quarantine_reason(SafeText(model.quarantine_reason, kMaxQuarantineBytes));
  // What a quarantined model is may be unknown.
  if (model.spec.input_dimension == 0) return;
  message->mutable_output_transform()->set_kind(static_cast<v1::OutputTransformKind>(model.spec.output_transform.kind));
  message->mutable_output_transform()->set_lower(model.spec.output_transform.lower);
  message->mutable_output_transform()->set_upper(model.spec.output_transform.upper);
  message->set_kind(static_cast<v1::ModelKind>(model.spec.kind));
}

}  // namespace fidelio
