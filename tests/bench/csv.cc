#include "tests/bench/csv.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace fidelio::bench {
namespace {

// The columns that a table must have: optionally level, then x1..xd, then y.
std::vector<std::string> Header(bool with_level, int dimension) {
  std::vector<std::string> names;
  if (with_level) names.emplace_back("level");
  for (int j = 1; j <= dimension; ++j) names.push_back(absl::StrCat("x", j));
  names.emplace_back("y");
  return names;
}

// The numbers of a table whose header was checked, one vector per row.
absl::StatusOr<std::vector<std::vector<double>>> ReadTable(const std::string& path, bool with_level) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be opened"));
  std::string line;
  if (!std::getline(file, line)) return absl::InvalidArgumentError(absl::StrCat(path, ": empty, no header"));
  const std::string header(absl::StripAsciiWhitespace(line));
  const std::vector<std::string> names = absl::StrSplit(header, ',');
  const int dimension = static_cast<int>(names.size()) - (with_level ? 2 : 1);
  if (dimension < 1 || names != Header(with_level, dimension)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": header \"", header, "\", must be ", with_level ? "level," : "", "x1..xd,y"));
  }
  std::vector<std::vector<double>> rows;
  for (int number = 2; std::getline(file, line); ++number) {
    const absl::string_view content = absl::StripAsciiWhitespace(line);
    if (content.empty()) continue;
    std::vector<double> row;
    for (absl::string_view field : absl::StrSplit(content, ',')) {
      double value = 0;
      if (!absl::SimpleAtod(field, &value) || !std::isfinite(value)) {
        return absl::InvalidArgumentError(absl::StrCat(path, ":", number, ": \"", field, "\" must be a finite number"));
      }
      row.push_back(value);
    }
    if (row.size() != names.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", number, ": ", row.size(), " columns, but the header has ", names.size()));
    }
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": no rows"));
  return rows;
}

// Rows of which the first `skip` columns are dropped, the last is y.
LevelData ToLevel(const std::vector<const std::vector<double>*>& rows, int columns, int skip) {
  LevelData level;
  level.x.resize(rows.size(), columns - skip - 1);
  level.y.resize(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    for (int j = 0; j < level.x.cols(); ++j) level.x(i, j) = (*rows[i])[j + skip];
    level.y[i] = rows[i]->back();
  }
  return level;
}

std::string FormatRow(const LevelData& level, int i) {
  std::string text;
  for (int j = 0; j < level.x.cols(); ++j) absl::StrAppendFormat(&text, "%.17g,", level.x(i, j));
  absl::StrAppendFormat(&text, "%.17g\n", level.y[i]);
  return text;
}

// What keeps it from being made, opening the file will tell.
void MakeParent(const std::string& path) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
}

absl::Status NotWritten(const std::string& path) {
  return absl::InternalError(
      absl::StrCat(path, ": cannot be written", errno == 0 ? "" : absl::StrCat(": ", std::strerror(errno))));
}

}  // namespace

absl::StatusOr<Dataset> ReadTrain(const std::string& path) {
  absl::StatusOr<std::vector<std::vector<double>>> rows = ReadTable(path, /*with_level=*/true);
  if (!rows.ok()) return rows.status();
  std::vector<std::vector<const std::vector<double>*>> by_level;
  for (const std::vector<double>& row : *rows) {
    const double level = row[0];
    if (level < 0 || level > 99 || level != std::floor(level)) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": level ", level, " must be an integer from 0 to 99"));
    }
    if (by_level.size() <= static_cast<size_t>(level)) by_level.resize(static_cast<size_t>(level) + 1);
    by_level[static_cast<size_t>(level)].push_back(&row);
  }
  Dataset data;
  const int columns = static_cast<int>((*rows)[0].size());
  for (const auto& level : by_level) data.levels.push_back(ToLevel(level, columns, 1));
  return data;
}

absl::StatusOr<LevelData> ReadTest(const std::string& path) {
  absl::StatusOr<std::vector<std::vector<double>>> rows = ReadTable(path, /*with_level=*/false);
  if (!rows.ok()) return rows.status();
  std::vector<const std::vector<double>*> pointers;
  for (const std::vector<double>& row : *rows) pointers.push_back(&row);
  return ToLevel(pointers, static_cast<int>((*rows)[0].size()), 0);
}

absl::Status WriteTrain(const Dataset& data, const std::string& path) {
  std::string text = absl::StrCat(absl::StrJoin(Header(true, data.dimension()), ","), "\n");
  for (size_t t = 0; t < data.levels.size(); ++t) {
    for (int i = 0; i < data.levels[t].y.size(); ++i) absl::StrAppend(&text, t, ",", FormatRow(data.levels[t], i));
  }
  return WriteFile(path, text);
}

absl::Status WriteTest(const LevelData& test, const std::string& path) {
  std::string text = absl::StrCat(absl::StrJoin(Header(false, static_cast<int>(test.x.cols())), ","), "\n");
  for (int i = 0; i < test.y.size(); ++i) absl::StrAppend(&text, FormatRow(test, i));
  return WriteFile(path, text);
}

absl::Status WriteFile(const std::string& path, const std::string& text) {
  MakeParent(path);
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  return file ? absl::OkStatus() : NotWritten(path);
}

absl::Status CheckWritable(const std::string& path) {
  MakeParent(path);
  std::error_code ignored;
  const bool existed = std::filesystem::exists(path, ignored);
  errno = 0;
  const bool opened = std::ofstream(path, std::ios::binary | std::ios::app).is_open();
  if (!opened) return NotWritten(path);
  if (!existed) std::filesystem::remove(path, ignored);
  return absl::OkStatus();
}

}  // namespace fidelio::bench
