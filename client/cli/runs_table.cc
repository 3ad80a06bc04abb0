#include "client/cli/runs_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/tables.h"
#include "client/cli/text.h"
#include "client/cpp/names.h"
#include "client/cpp/variables.h"

namespace fidelio::cli {

absl::StatusOr<std::vector<client::FidelityInputs>> ReadRuns(const DataTable& table, const v1::Model& model) {
  const int column = std::max(table.Column("level"), table.Column("fidelity"));
  if (column < 0 && model.fidelities_size() > 1) {
    return table.Error(absl::StrCat("header: no column fidelity, but model \"", client::ShortName(model.name()),
                                    "\" has ", model.fidelities_size(), " fidelities"));
  }
  const auto inputs = ReadInputs(table, model);
  if (!inputs.ok()) return inputs.status();
  std::vector<std::vector<int>> rows(static_cast<size_t>(model.fidelities_size()));  // of each level
  for (int i = 0; i < table.rows(); ++i) {
    const auto level = column < 0 ? 0 : ParseLevel(model, table.Text(i, column));
    if (!level.ok()) return table.Error(i, column, level.status().message());
    rows[static_cast<size_t>(*level)].push_back(i);
  }
  std::vector<client::FidelityInputs> runs;
  for (size_t t = 0; t < rows.size(); ++t) {
    if (!rows[t].empty()) runs.push_back({.level = static_cast<int>(t), .inputs = (*inputs)(rows[t], Eigen::all)});
  }
  return runs;
}

std::string RunsCsv(const v1::Model& model, const std::vector<client::FidelityInputs>& runs) {
  std::string csv =
      absl::StrCat("fidelity,", absl::StrJoin(client::InputNames(model), ","), ",", client::OutputName(model), "\n");
  for (const client::FidelityInputs& fidelity : runs) {
    for (Eigen::Index i = 0; i < fidelity.inputs.rows(); ++i) {
      absl::StrAppend(&csv, fidelity.fidelity);
      for (const double x : fidelity.inputs.row(i)) absl::StrAppend(&csv, ",", ExactNumber(x));
      absl::StrAppend(&csv, ",\n");
    }
  }
  return csv;
}

}  // namespace fidelio::cli
