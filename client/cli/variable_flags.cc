#include "client/cli/variable_flags.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/cli/text.h"
#include "client/cpp/names.h"
#include "client/cpp/variables.h"

namespace fidelio::cli {
namespace {

constexpr char kInputForm[] = "must be NAME, NAME[UNIT], NAME=LOWER:UPPER or NAME[UNIT]=LOWER:UPPER";
constexpr char kOutputForm[] = "must be NAME or NAME[UNIT]";

struct TypedVariable {
  std::string name;
  std::string unit;
  std::optional<std::pair<double, double>> range;
};

absl::Status BadFlag(absl::string_view flag, absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(flag, ": \"", text, "\", ", why));
}

bool ToFinite(absl::string_view text, double* number) {
  return absl::SimpleAtod(text, number) && std::isfinite(*number);
}

absl::StatusOr<TypedVariable> ParseVariable(absl::string_view flag, absl::string_view text, absl::string_view form) {
  TypedVariable variable;
  absl::string_view rest = text;
  const size_t end = std::min(rest.find_first_of("[="), rest.size());
  variable.name = std::string(rest.substr(0, end));
  rest.remove_prefix(end);
  if (variable.name.empty()) return BadFlag(flag, text, form);
  if (absl::ConsumePrefix(&rest, "[")) {
    const size_t close = rest.find(']');
    if (close == absl::string_view::npos) return BadFlag(flag, text, form);
    variable.unit = std::string(rest.substr(0, close));
    rest.remove_prefix(close + 1);
  }
  if (rest.empty()) return variable;
  const size_t colon = rest.find(':');
  double lower = 0, upper = 0;
  if (!absl::ConsumePrefix(&rest, "=") || colon == absl::string_view::npos ||
      !ToFinite(rest.substr(0, colon - 1), &lower) || !ToFinite(rest.substr(colon), &upper)) {
    return BadFlag(flag, text, form);
  }
  if (!(lower < upper)) return BadFlag(flag, text, "must be a range whose upper end is above the lower one");
  variable.range = {lower, upper};
  return variable;
}

absl::Status ApplyInputs(const VariableFlags& flags, v1::Model* model) {
  const auto count = static_cast<uint32_t>(flags.inputs.size());
  if (model->input_dimension() == 0) model->set_input_dimension(count);
  if (model->input_dimension() != count) {
    const std::string whose =
        model->name().empty() ? "--inputs is" : absl::StrCat("model \"", client::ShortName(model->name()), "\" has");
    return absl::InvalidArgumentError(absl::StrCat("--input: given ", count, count == 1 ? " time" : " times", ", but ",
                                                   whose, " ", model->input_dimension(),
                                                   ": name all inputs, in their order"));
  }
  const auto before = model->inputs();
  model->clear_inputs();
  v1::InputBox box;
  for (const std::string& text : flags.inputs) {
    const auto typed = ParseVariable("--input", text, kInputForm);
    if (!typed.ok()) return typed.status();
    v1::Input* input = model->add_inputs();
    input->set_name(typed->name);
    input->set_unit(typed->unit);
    for (const v1::Input& old : before) {
      if (old.name() == typed->name) input->set_description(old.description());
    }
    if (!typed->range) continue;
    box.add_lower(typed->range->first);
    box.add_upper(typed->range->second);
  }
  if (box.lower().empty()) return absl::OkStatus();
  if (box.lower_size() != static_cast<int>(count)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--input: ", box.lower_size(), " of ", count, " inputs have a range, but all have one, or none"));
  }
  *model->mutable_input_box() = std::move(box);
  return absl::OkStatus();
}

}  // namespace

void AddVariableFlags(CLI::App* command, VariableFlags& flags) {
  command
      ->add_option("--input", flags.inputs,
                   "name of an input, with its unit and range if you like: \"thickness[mm]=0.5:3\"; once per input, in "
                   "their order")
      ->type_name("NAME[UNIT]=LOWER:UPPER")
      ->allow_extra_args(false);
  command->add_option("--output", flags.output, "name of the output, with its unit if you like: \"deflection[mm]\"")
      ->type_name("NAME[UNIT]");
}

absl::Status ApplyVariables(const VariableFlags& flags, v1::Model* model) {
  if (!flags.inputs.empty()) {
    if (absl::Status status = ApplyInputs(flags, model); !status.ok()) return status;
  }
  if (flags.output.empty()) return absl::OkStatus();
  const auto typed = ParseVariable("--output", flags.output, kOutputForm);
  if (!typed.ok()) return typed.status();
  if (typed->range) return BadFlag("--output", flags.output, kOutputForm);
  const std::string description =
      !model->outputs().empty() && model->outputs(0).name() == typed->name ? model->outputs(0).description() : "";
  model->clear_outputs();
  v1::Output* output = model->add_outputs();
  output->set_name(typed->name);
  output->set_unit(typed->unit);
  output->set_description(description);
  return absl::OkStatus();
}

bool HasRanges(const VariableFlags& flags) {
  return std::any_of(flags.inputs.begin(), flags.inputs.end(), [](const std::string& text) {
    const auto typed = ParseVariable("--input", text, kInputForm);
    return typed.ok() && typed->range.has_value();
  });
}

TypedNames VariableNames() {
  return {{"model.inputs", "--input"}, {"model.outputs", "--output"}, {"model.keep_revisions", "--keep-revisions"}};
}

std::vector<std::vector<std::string>> DescribeVariables(const v1::Model& model) {
  std::vector<std::vector<std::string>> rows;
  const std::vector<std::string> labels = client::InputLabels(model);
  const auto with_description = [](const std::string& text, const std::string& description) {
    return description.empty() ? text : absl::StrCat(text, ", ", description);
  };
  for (int j = 0; j < model.inputs_size() && j < static_cast<int>(labels.size()); ++j) {
    std::string text = labels[static_cast<size_t>(j)];
    if (model.input_box().lower_size() > j && model.input_box().upper_size() > j) {
      absl::StrAppend(&text, ", ", ExactNumber(model.input_box().lower(j)), " to ",
                      ExactNumber(model.input_box().upper(j)));
    }
    rows.push_back({absl::StrCat("input ", j + 1), with_description(text, model.inputs(j).description())});
  }
  if (!model.outputs().empty()) {
    rows.push_back({"output", with_description(client::OutputLabel(model), model.outputs(0).description())});
  }
  return rows;
}

}  // namespace fidelio::cli
