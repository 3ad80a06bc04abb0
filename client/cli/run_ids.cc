#include "client/cli/run_ids.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/csv.h"
#include "client/cli/input.h"
#include "client/cli/tables.h"

namespace fidelio::cli {
namespace {

// The column run_id, in every row of which there is one.
absl::StatusOr<std::vector<std::string>> ReadIdColumn(const DataTable& table) {
  const int column = table.Column("run_id");
  if (column < 0) return table.Error("header: no column run_id, the ids of observations");
  std::vector<std::string> ids;
  for (int i = 0; i < table.rows(); ++i) {
    ids.push_back(table.Text(i, column));
    if (ids.back().empty()) return table.Error(i, column, "empty, must be the id of an observation");
  }
  return ids;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadIdsFile(const std::string& path, std::istream& standard_input) {
  auto text = ReadInput(path, standard_input);
  if (!text.ok()) return absl::InvalidArgumentError(absl::StrCat("--ids-file: ", text.status().message()));
  std::vector<std::string> ids;
  for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
    const absl::string_view id = absl::StripAsciiWhitespace(line);
    if (id.empty() || absl::StartsWith(id, "#")) continue;
    const std::vector<std::string> fields = absl::StrSplit(id, ',');
    const bool header = std::any_of(fields.begin(), fields.end(), [](const std::string& field) {
      return absl::StripAsciiWhitespace(field) == "run_id";
    });
    if (ids.empty() && header) {
      const auto table = CsvTable::Parse(DisplayName(path), *std::move(text));
      if (!table.ok()) return table.status();
      return ReadIdColumn(*table);
    }
    ids.emplace_back(id);
  }
  if (ids.empty()) return absl::InvalidArgumentError(absl::StrCat("--ids-file: ", DisplayName(path), ": has no ids"));
  return ids;
}

absl::StatusOr<client::Correction> ParseCorrection(const std::vector<std::string>& values) {
  client::Correction correction;
  correction.outputs.resize(static_cast<Eigen::Index>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t equals = values[i].find('=');
    double output = 0;
    if (equals == std::string::npos || equals == 0 || !absl::SimpleAtod(values[i].substr(equals + 1), &output) ||
        !std::isfinite(output)) {
      return absl::InvalidArgumentError(
          absl::StrCat("ID=VALUE: \"", values[i], "\" is not an id, an equals sign and a number, as in 2-7=0.25"));
    }
    correction.run_ids.push_back(values[i].substr(0, equals));
    correction.outputs[static_cast<Eigen::Index>(i)] = output;
  }
  return correction;
}

absl::StatusOr<client::Correction> ReadCorrectionFile(const std::string& path, const v1::Model& model,
                                                      std::istream& standard_input) {
  auto text = ReadInput(path, standard_input);
  if (!text.ok()) return absl::InvalidArgumentError(absl::StrCat("--file: ", text.status().message()));
  const auto table = CsvTable::Parse(DisplayName(path), *std::move(text));
  if (!table.ok()) return table.status();
  client::Correction correction;
  auto ids = ReadIdColumn(*table);
  if (!ids.ok()) return ids.status();
  correction.run_ids = *std::move(ids);
  const auto outputs = ReadOutputs(*table, model);
  if (!outputs.ok()) return outputs.status();
  correction.outputs = *outputs;
  // `fidelio observations list` leaves variances empty where they are learned.
  const int column = table->Column("noise_variance");
  bool any = false;
  for (int i = 0; column >= 0 && i < table->rows(); ++i) any = any || !table->Text(i, column).empty();
  if (any) {
    const auto noise = ReadColumn(*table, "noise_variance");
    if (!noise.ok()) return noise.status();
    correction.noise_variances = *noise;
  }
  return correction;
}

}  // namespace fidelio::cli
