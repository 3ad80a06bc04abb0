#include "client/cli/tables.h"

#include <algorithm>
#include <regex>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cpp/errors.h"
#include "client/cpp/names.h"

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

// 3 for "x3", 0 for what is not the name of an input.
int InputNumber(const std::string& column) {
  int number = 0;
  const bool digits = column.size() > 1 && column[1] != '0' &&
                      std::all_of(column.begin() + 1, column.end(),
                                  [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); });
  return digits && column[0] == 'x' && absl::SimpleAtoi(column.substr(1), &number) ? number : 0;
}

// Indices of the columns x1..xd.
absl::StatusOr<std::vector<int>> InputColumns(const DataTable& table, const v1::Model& model) {
  const int d = static_cast<int>(model.input_dimension());
  const std::string rule = absl::StrCat("model \"", client::ShortName(model.name()), "\" has ", d,
                                        d == 1 ? " input: x1" : absl::StrCat(" inputs: x1..x", d));
  std::vector<int> columns;
  for (int j = 1; j <= d; ++j) {
    const int column = table.Column(absl::StrCat("x", j));
    if (column < 0) return table.Error(absl::StrCat("header: no column x", j, ", but ", rule));
    columns.push_back(column);
  }
  for (const std::string& column : table.columns()) {
    if (InputNumber(column) > d) return table.Error(absl::StrCat("header: column ", column, ", but ", rule));
  }
  return columns;
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

absl::Status CheckObservationColumns(const DataTable& table) {
  for (const std::string& column : table.columns()) {
    if (column != "level" && column != "fidelity" && column != "y" && column != "noise" && column != "run_id" &&
        InputNumber(column) == 0) {
      return table.Error(absl::StrCat("header: unknown column ", column,
                                      "; columns are level or fidelity, x1..xd, y and, if known, noise (a variance) "
                                      "and run_id"));
    }
  }
  if (table.Column("y") < 0) return table.Error("header: no column y, the observed outputs");
  if (table.Column("level") >= 0 && table.Column("fidelity") >= 0) {
    return table.Error("header: columns level and fidelity, but one of them is enough");
  }
  return absl::OkStatus();
}

// The level of every row.
absl::StatusOr<std::vector<int>> ReadLevels(const DataTable& table, const v1::Model& model, std::optional<int> level) {
  const int column = std::max(table.Column("level"), table.Column("fidelity"));
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
  return [name = client::ShortName(model.name()), d = static_cast<int>(model.input_dimension()),
          with_level](int count) -> absl::StatusOr<std::vector<std::string>> {
    std::vector<std::string> names;
    if (with_level) names.push_back("level");
    for (int j = 1; j <= d; ++j) names.push_back(absl::StrCat("x", j));
    names.push_back("y");
    const int least = static_cast<int>(names.size());
    if (count == least + 1) names.push_back("noise");
    if (count == static_cast<int>(names.size())) return names;
    return absl::InvalidArgumentError(
        absl::StrCat(count, count == 1 ? " column" : " columns", ", but observations of model \"", name, "\" have ",
                     least, " (", absl::StrJoin(names, ", "), ") or one more (noise, a known variance)",
                     with_level ? "; --level says the fidelity of files without the first" : ""));
  };
}

NameColumns NameInputColumns(const v1::Model& model) {
  return [name = client::ShortName(model.name()),
          d = static_cast<int>(model.input_dimension())](int count) -> absl::StatusOr<std::vector<std::string>> {
    std::vector<std::string> names;
    for (int j = 1; j <= d; ++j) names.push_back(absl::StrCat("x", j));
    if (count == d + 1) names.push_back("y");
    if (count == static_cast<int>(names.size())) return names;
    return absl::InvalidArgumentError(absl::StrCat(count, count == 1 ? " column" : " columns", ", but model \"", name,
                                                   "\" has ", d, d == 1 ? " input" : " inputs"));
  };
}

absl::StatusOr<ObservationTable> ReadObservations(const DataTable& table, const v1::Model& model,
                                                  std::optional<int> level) {
  if (absl::Status status = CheckObservationColumns(table); !status.ok()) return status;
  const auto columns = InputColumns(table, model);
  if (!columns.ok()) return columns.status();
  const auto levels = ReadLevels(table, model, level);
  if (!levels.ok()) return levels.status();
  const auto inputs = ReadMatrix(table, *columns);
  if (!inputs.ok()) return inputs.status();
  if (absl::Status status = CheckOutputs(table, table.Column("y")); !status.ok()) return status;
  const auto outputs = ReadNumbers(table, table.Column("y"));
  if (!outputs.ok()) return outputs.status();
  const auto run_ids = ReadRunIds(table);
  if (!run_ids.ok()) return run_ids.status();
  Eigen::VectorXd noise;
  if (const int column = table.Column("noise"); column >= 0) {
    const auto numbers = ReadNumbers(table, column);
    if (!numbers.ok()) return numbers.status();
    noise = *numbers;
    for (int i = 0; i < table.rows(); ++i) {
      if (noise[i] < 0) return table.Error(i, column, absl::StrCat(noise[i], ", but a variance is at least 0"));
    }
  }

  ObservationTable result;
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
  const auto columns = InputColumns(table, model);
  if (!columns.ok()) return columns.status();
  return ReadMatrix(table, *columns);
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
  const std::string message(status.message());
  std::smatch match, element;
  if (!std::regex_match(message, match, *kField)) return status;
  const size_t batch = std::stoul(match[1]);
  const std::string what = match[3];
  const bool inputs = match[2] == "inputs";
  if (!std::regex_match(what, element, *kElement)) {
    return client::WithMessage(status, table
                                           .Error(absl::StrCat(inputs                  ? "inputs"
                                                               : match[2] == "outputs" ? "column y"
                                                                                       : "column noise",
                                                               ": ", what))
                                           .message());
  }
  const size_t i = std::stoul(element[1]);
  if (batch >= observations.rows.size() || i >= observations.rows[batch].size()) return status;
  const int column = table.Column(inputs                  ? absl::StrCat("x", std::stoul(element[2]) + 1)
                                  : match[2] == "outputs" ? "y"
                                                          : "noise");
  if (column < 0) return status;
  return client::WithMessage(status,
                             table.Error(observations.rows[batch][i], column, std::string(element[3])).message());
}

}  // namespace fidelio::cli
