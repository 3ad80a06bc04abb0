#include "client/cli/tables.h"

#include <algorithm>
#include <regex>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cpp/errors.h"
#include "client/cpp/names.h"
#include "client/cpp/variables.h"

namespace fidelio::cli {
namespace {

// "low (0), high (1)"
std::string FidelityList(const v1::Model& model) {
  std::vector<std::string> entries;
  for (int t = 0; t < model.fidelities_size(); ++t) {
    entries.push_back(absl::StrCat(model.fidelities(t).name(), " (", t, ")"));
  }
  return absl::StrJoin(entries, ", ");
}

absl::StatusOr<Eigen::VectorXd> ReadNumbers(const DataTable& table, int column) {
  Eigen::VectorXd numbers(table.rows());
  for (int i = 0; i < table.rows(); ++i) {
    const auto number = table.Number(i, column);
    if (!number.ok()) return number.status();
    numbers[i] = *number;
  }
  return numbers;
}

absl::StatusOr<Eigen::MatrixXd> ReadMatrix(const DataTable& table, const std::vector<int>& columns) {
  Eigen::MatrixXd matrix(table.rows(), columns.size());
  for (size_t j = 0; j < columns.size(); ++j) {
    const auto numbers = ReadNumbers(table, columns[j]);
    if (!numbers.ok()) return numbers.status();
    matrix.col(static_cast<Eigen::Index>(j)) = *numbers;
  }
  return matrix;
}

// The level of every row.
absl::StatusOr<std::vector<int>> ReadLevels(const DataTable& table, const v1::Model& model, int column,
                                            std::optional<int> level) {
  if (column < 0) {
    if (!level.has_value() && model.fidelities_size() > 1) {
      return table.Error(absl::StrCat("header: no column level or fidelity, but model \"",
                                      client::ShortName(model.name()), "\" has ", FidelityList(model),
                                      "; add one, or say --level"));
    }
    return std::vector<int>(table.rows(), level.value_or(0));
  }
  if (level.has_value()) {
    return table.Error(absl::StrCat("header: column ", table.columns()[column], ", but --level is given as well"));
  }
  std::vector<int> levels;
  for (int i = 0; i < table.rows(); ++i) {
    const auto parsed = ParseLevel(model, table.Text(i, column));
    if (!parsed.ok()) return table.Error(i, column, parsed.status().message());
    levels.push_back(*parsed);
  }
  return levels;
}

// The ids of all rows; empty when no row has one.
absl::StatusOr<std::vector<std::string>> ReadRunIds(const DataTable& table) {
  const int column = table.Column("run_id");
  std::vector<std::string> ids;
  int empty = -1;  // a row without an id
  for (int i = 0; column >= 0 && i < table.rows(); ++i) {
    ids.push_back(table.Text(i, column));
    if (ids.back().empty()) empty = i;
  }
  if (empty < 0) return ids;
  if (std::all_of(ids.begin(), ids.end(), [](const std::string& id) { return id.empty(); })) {
    return std::vector<std::string>();
  }
  return table.Error(empty, column, "empty, but other rows have an id: give every row one, or none");
}

// Rows of a design whose runs were not made yet have no output.
absl::Status CheckOutputs(const DataTable& table, int column) {
  int count = 0, first = -1;
  for (int i = 0; i < table.rows(); ++i) {
    if (!table.Text(i, column).empty()) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return absl::OkStatus();
  return table.Error(first, column,
                     absl::StrCat("empty, must be the output of this run; ",
                                  count == 1 ? "1 row has" : absl::StrCat(count, " rows have"),
                                  " no output: fill in the outputs, or remove rows that were not run"));
}

}  // namespace

absl::StatusOr<int> ParseLevel(const v1::Model& model, const std::string& text) {
  for (int t = 0; t < model.fidelities_size(); ++t) {
    if (model.fidelities(t).name() == text) return t;
  }
  int level = 0;
  if (absl::SimpleAtoi(text, &level) && level >= 0 && level < model.fidelities_size()) return level;
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not a fidelity of model \"",
                                                 client::ShortName(model.name()), "\", which has ",
                                                 FidelityList(model)));
}

NameColumns NameObservationColumns(const v1::Model& model, std::optional<int> level) {
  const bool with_level = !level.has_value() && model.fidelities_size() > 1;
  return [model, with_level](int count) -> absl::StatusOr<std::vector<std::string>> {
    std::vector<std::string> names = client::InputNames(model);
    if (with_level) names.insert(names.begin(), "level");
    names.push_back(client::OutputName(model));
    const int least = static_cast<int>(names.size());
    if (count == least + 1) names.push_back("noise_variance");
    if (count == static_cast<int>(names.size())) return names;
    return absl::InvalidArgumentError(absl::StrCat(
        count, count == 1 ? " column" : " columns", ", but observations of model \"", client::ShortName(model.name()),
        "\" have ", least, " (", absl::StrJoin(names, ", "), ") or one more (noise_variance)",
        with_level ? "; --level gives the fidelity if that column is missing" : ""));
  };
}

NameColumns NameInputColumns(const v1::Model& model) {
  return [model](int count) -> absl::StatusOr<std::vector<std::string>> {
    std::vector<std::string> names = client::InputNames(model);
    const int d = static_cast<int>(names.size());
    if (count == d + 1) names.push_back(client::OutputName(model));
    if (count == static_cast<int>(names.size())) return names;
    return absl::InvalidArgumentError(absl::StrCat(count, count == 1 ? " column" : " columns", ", but model \"",
                                                   client::ShortName(model.name()), "\" has ", d,
                                                   d == 1 ? " input" : " inputs"));
  };
}

absl::StatusOr<ObservationTable> ReadObservations(const DataTable& table, const v1::Model& model,
                                                  std::optional<int> level) {
  const auto columns = FindObservationColumns(table, model, {"run_id"});
  if (!columns.ok()) return columns.status();
  const auto levels = ReadLevels(table, model, columns->fidelity, level);
  if (!levels.ok()) return levels.status();
  const auto inputs = ReadMatrix(table, columns->inputs);
  if (!inputs.ok()) return inputs.status();
  if (absl::Status status = CheckOutputs(table, columns->output); !status.ok()) return status;
  const auto outputs = ReadNumbers(table, columns->output);
  if (!outputs.ok()) return outputs.status();
  const auto run_ids = ReadRunIds(table);
  if (!run_ids.ok()) return run_ids.status();
  Eigen::VectorXd noise;
  if (const int column = columns->noise; column >= 0) {
    const auto numbers = ReadNumbers(table, column);
    if (!numbers.ok()) return numbers.status();
    noise = *numbers;
    for (int i = 0; i < table.rows(); ++i) {
      if (noise[i] < 0) return table.Error(i, column, absl::StrCat(noise[i], ", but a variance is at least 0"));
    }
  }

  ObservationTable result;
  result.columns = *columns;
  for (int t = 0; t < model.fidelities_size(); ++t) {
    std::vector<int> rows;
    for (int i = 0; i < table.rows(); ++i) {
      if ((*levels)[i] == t) rows.push_back(i);
    }
    if (rows.empty()) continue;
    client::Observations batch;
    batch.level = t;
    batch.inputs = (*inputs)(rows, Eigen::all);
    batch.outputs = (*outputs)(rows);
    if (noise.size() > 0) batch.noise_variances = noise(rows);
    for (const int row : rows) {
      if (!run_ids->empty()) batch.run_ids.push_back((*run_ids)[static_cast<size_t>(row)]);
    }
    result.batches.push_back(std::move(batch));
    result.rows.push_back(std::move(rows));
  }
  return result;
}

absl::StatusOr<Eigen::MatrixXd> ReadInputs(const DataTable& table, const v1::Model& model) {
  const auto columns = FindInputColumns(table, model);
  if (!columns.ok()) return columns.status();
  return ReadMatrix(table, *columns);
}

absl::StatusOr<Eigen::VectorXd> ReadOutputs(const DataTable& table, const v1::Model& model) {
  const auto column = FindOutputColumn(table, model);
  if (!column.ok()) return column.status();
  return ReadNumbers(table, *column);
}

absl::StatusOr<Eigen::VectorXd> ReadColumn(const DataTable& table, const std::string& column) {
  const int index = table.Column(column);
  if (index < 0) return table.Error(absl::StrCat("header: no column ", column));
  return ReadNumbers(table, index);
}

absl::Status InTermsOfFile(const absl::Status& status, const DataTable& table, const ObservationTable& observations) {
  static const std::regex* const kField =
      new std::regex(R"(^observations\[(\d{1,9})\]\.(inputs|outputs|noise_variances): ([^]*)$)");
  static const std::regex* const kElement = new std::regex(R"(^element \[(\d{1,9}), (\d{1,9})\] ([^]*)$)");
  static const std::regex* const kRunId =
      new std::regex(R"(^(?:models/[a-z0-9-]+: )?observations\[(\d{1,9})\]\.run_ids\[(\d{1,9})\]: ([^]*)$)");
  const std::string message(status.message());
  std::smatch match, element;
  if (std::regex_match(message, match, *kRunId)) {
    const size_t batch = std::stoul(match[1]), i = std::stoul(match[2]);
    const int column = table.Column("run_id");
    if (column < 0 || batch >= observations.rows.size() || i >= observations.rows[batch].size()) return status;
    return client::WithMessage(status,
                               table.Error(observations.rows[batch][i], column, std::string(match[3])).message());
  }
  if (!std::regex_match(message, match, *kField)) return status;
  const size_t batch = std::stoul(match[1]);
  const std::string what = match[3];
  const bool inputs = match[2] == "inputs";
  const int single = match[2] == "outputs" ? observations.columns.output : observations.columns.noise;
  if (!std::regex_match(what, element, *kElement)) {
    // Noise may be missing where it is needed.
    const std::string where = inputs        ? "inputs"
                              : single >= 0 ? absl::StrCat("column ", table.columns()[static_cast<size_t>(single)])
                                            : "column noise_variance";
    return client::WithMessage(status, table.Error(absl::StrCat(where, ": ", what)).message());
  }
  const size_t i = std::stoul(element[1]), j = std::stoul(element[2]);
  if (batch >= observations.rows.size() || i >= observations.rows[batch].size()) return status;
  if (inputs && j >= observations.columns.inputs.size()) return status;
  const int column = inputs ? observations.columns.inputs[j] : single;
  if (column < 0) return status;
  return client::WithMessage(status,
                             table.Error(observations.rows[batch][i], column, std::string(element[3])).message());
}

}  // namespace fidelio::cli
