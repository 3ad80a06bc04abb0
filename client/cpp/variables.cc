#include "client/cpp/variables.h"

#include "absl/strings/str_cat.h"

namespace fidelio::client {
namespace {

// Names come from the model when it has one per input.
bool HasInputNames(const v1::Model& model) {
  return model.inputs_size() > 0 && model.inputs_size() == static_cast<int>(model.input_dimension());
}

std::string WithUnit(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : absl::StrCat(name, " (", unit, ")");
}

}  // namespace

std::vector<std::string> InputNames(const v1::Model& model) {
  std::vector<std::string> names;
  names.reserve(model.input_dimension());
  for (int j = 0; j < static_cast<int>(model.input_dimension()); ++j) {
    names.push_back(HasInputNames(model) ? model.inputs(j).name() : absl::StrCat("x", j + 1));
  }
  return names;
}

std::string OutputName(const v1::Model& model) { return model.outputs().empty() ? "y" : model.outputs(0).name(); }

std::vector<std::string> InputLabels(const v1::Model& model) {
  std::vector<std::string> labels = InputNames(model);
  if (!HasInputNames(model)) return labels;
  for (size_t j = 0; j < labels.size(); ++j) labels[j] = WithUnit(labels[j], model.inputs(static_cast<int>(j)).unit());
  return labels;
}

std::string OutputLabel(const v1::Model& model) {
  return model.outputs().empty() ? "y" : WithUnit(OutputName(model), model.outputs(0).unit());
}

}  // namespace fidelio::client
