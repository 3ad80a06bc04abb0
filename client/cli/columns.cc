#include "client/cli/columns.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cpp/names.h"
#include "client/cpp/variables.h"

namespace fidelio::cli {
namespace {

// Whether this is the default name of an input: x1, x2, …
bool IsDefaultName(const std::string& column) {
  return column.size() > 1 && column[0] == 'x' && column[1] != '0' &&
         std::all_of(column.begin() + 1, column.end(),
                     [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); });
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// `model "plate" has 2 inputs: thickness, load`
std::string InputRule(const v1::Model& model) {
  return absl::StrCat("model \"", client::ShortName(model.name()), "\" has ", model.input_dimension(),
                      model.input_dimension() == 1 ? " input: " : " inputs: ", InputList(model));
}

// "deflection or y"
std::string OutputList(const v1::Model& model) {
  const std::string name = client::OutputName(model);
  return name == "y" ? "y" : absl::StrCat(name, " or y");
}

// One of two columns, or −1; both are refused.
absl::StatusOr<int> OneOf(const DataTable& table, const std::string& one, const std::string& other) {
  const int a = table.Column(one), b = table.Column(other);
  if (one != other && a >= 0 && b >= 0) {
    return table.Error(absl::StrCat("header: columns ", one, " and ", other, ", but one of them is enough"));
  }
  return std::max(a, b);
}

}  // namespace

std::string InputList(const v1::Model& model, size_t most) {
  const std::vector<std::string> names = client::InputNames(model);
  if (names.size() <= most) return absl::StrJoin(names, ", ");
  if (model.inputs().empty()) return absl::StrCat("x1..x", names.size());
  return absl::StrCat(absl::StrJoin(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(most) - 1, ", "),
                      ", …, ", names.back());
}

absl::StatusOr<std::vector<int>> FindInputColumns(const DataTable& table, const v1::Model& model) {
  const std::vector<std::string> names = client::InputNames(model);
  std::vector<int> columns;
  for (const std::string& name : names) {
    columns.push_back(table.Column(name));
    if (columns.back() < 0) return table.Error(absl::StrCat("header: no column ", name, ", but ", InputRule(model)));
  }
  // Default names that are not the model's are a mistake: x4 of three inputs, or x1 of inputs with names.
  for (const std::string& column : table.columns()) {
    if (IsDefaultName(column) && !Contains(names, column) && column != client::OutputName(model)) {
      return table.Error(absl::StrCat("header: column ", column, ", but ", InputRule(model)));
    }
  }
  return columns;
}

absl::StatusOr<int> FindOutputColumn(const DataTable& table, const v1::Model& model) {
  const auto column = OneOf(table, client::OutputName(model), "y");
  if (!column.ok() || *column >= 0) return column;
  return table.Error(absl::StrCat("header: no column ", OutputList(model), ", the observed outputs"));
}

absl::StatusOr<ObservationColumns> FindObservationColumns(const DataTable& table, const v1::Model& model,
                                                          const std::vector<std::string>& known) {
  const std::vector<std::string> names = client::InputNames(model);
  const std::string output = client::OutputName(model);
  // `noise` may be the name of a variable of the model, noise_variance may not.
  const bool noise_is_variable = Contains(names, "noise") || output == "noise";
  for (const std::string& column : table.columns()) {
    const bool standard = column == "level" || column == "fidelity" || column == "y" || column == "noise_variance" ||
                          column == "noise" || IsDefaultName(column);
    if (standard || column == output || Contains(names, column) || Contains(known, column)) continue;
    return table.Error(absl::StrCat("header: unknown column ", column, "; columns are level or fidelity, ",
                                    InputList(model), ", ", OutputList(model),
                                    " and, if known, noise_variance or noise, and run_id"));
  }
  ObservationColumns columns;
  const auto at = FindOutputColumn(table, model);
  if (!at.ok()) return at.status();
  columns.output = *at;
  const auto fidelity = OneOf(table, "level", "fidelity");
  if (!fidelity.ok()) return fidelity.status();
  columns.fidelity = *fidelity;
  const auto noise = OneOf(table, "noise_variance", noise_is_variable ? "noise_variance" : "noise");
  if (!noise.ok()) return noise.status();
  columns.noise = *noise;
  auto inputs = FindInputColumns(table, model);
  if (!inputs.ok()) return inputs.status();
  columns.inputs = *std::move(inputs);
  return columns;
}

}  // namespace fidelio::cli
