#include "server/model/variable_names.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

constexpr size_t kMaxVariableName = 63;
constexpr size_t kMaxUnit = 64;
constexpr size_t kMaxVariableDescription = 1024;
constexpr absl::string_view kReserved[] = {"fidelity", "level", "noise_variance", "run_id"};

bool IsVariableName(absl::string_view name) {
  if (name.empty() || name.size() > kMaxVariableName) return false;
  if (!absl::ascii_isalpha(name[0]) && name[0] != '_') return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-'; });
}

absl::Status CheckText(const std::string& field, absl::string_view text, size_t most) {
  if (text.size() <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", text.size(), " bytes, want at most ", most));
}

absl::Status CheckVariable(const std::string& field, const VariableSpec& variable) {
  if (!IsVariableName(variable.name)) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ".name: ", Quoted(variable.name), ", want [A-Za-z_][A-Za-z0-9_.-]{0,62}"));
  }
  if (std::find(std::begin(kReserved), std::end(kReserved), variable.name) != std::end(kReserved)) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ".name: ", Quoted(variable.name),
                     " is reserved, want a name other than fidelity, level, y, noise_variance and run_id"));
  }
  FIDELIO_RETURN_IF_ERROR(CheckText(field + ".unit", variable.unit, kMaxUnit));
  return CheckText(field + ".description", variable.description, kMaxVariableDescription);
}

}  // namespace

absl::Status ValidateVariables(const ModelSpec& spec) {
  if (spec.output) FIDELIO_RETURN_IF_ERROR(CheckVariable("model.outputs[0]", *spec.output));
  if (spec.inputs.empty()) return absl::OkStatus();
  if (static_cast<int64_t>(spec.inputs.size()) != spec.input_dimension) {
    return absl::InvalidArgumentError(absl::StrCat("model.inputs: ", spec.inputs.size(),
                                                   " inputs, but input_dimension is ", spec.input_dimension,
                                                   ": want as many, or none"));
  }
  std::set<absl::string_view> names;
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const VariableSpec& input = spec.inputs[i];
    const std::string field = absl::StrCat("model.inputs[", i, "]");
    FIDELIO_RETURN_IF_ERROR(CheckVariable(field, input));
    const auto refuse = [&](absl::string_view why) {
      return absl::InvalidArgumentError(absl::StrCat(field, ".name: ", Quoted(input.name), why));
    };
    if (input.name == "y") {
      return refuse(" is the output's, want a name other than fidelity, level, y, noise_variance and run_id");
    }
    if (spec.output && input.name == spec.output->name) return refuse(" is the name of the output, want unique names");
    if (!names.insert(input.name).second) return refuse(" is the name of another input, want unique names");
  }
  return absl::OkStatus();
}

}  // namespace fidelio
