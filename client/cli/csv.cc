#include "client/cli/csv.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace fidelio::cli {
namespace {

constexpr size_t kMaxQuoted = 40;  // of a user's text in a message

std::string Quote(absl::string_view text) {
  return absl::StrCat("\"", absl::Utf8SafeCEscape(text.substr(0, kMaxQuoted)), text.size() > kMaxQuoted ? "…" : "",
                      "\"");
}

// Appends the fields of one line, as they stand. False when a quote is not closed, or followed by something.
bool Split(absl::string_view line, std::vector<absl::string_view>* fields) {
  while (true) {
    size_t searched = 0;  // no comma before this ends the field
    const size_t first = line.find_first_not_of(" \t\r");
    if (first != absl::string_view::npos && line[first] == '"') {
      size_t close = line.find('"', first + 1);
      while (close != absl::string_view::npos && close + 1 < line.size() && line[close + 1] == '"') {
        close = line.find('"', close + 2);
      }
      if (close == absl::string_view::npos) return false;
      searched = close + 1;
    }
    const size_t comma = line.find(',', searched);
    const absl::string_view field = line.substr(0, comma);
    if (searched > 0 && !absl::StripAsciiWhitespace(field.substr(searched)).empty()) return false;
    fields->push_back(absl::StripAsciiWhitespace(field));
    if (comma == absl::string_view::npos) return true;
    line.remove_prefix(comma + 1);
  }
}

std::string Unquote(absl::string_view field) {
  if (field.size() < 2 || field.front() != '"') return std::string(field);
  return absl::StrReplaceAll(field.substr(1, field.size() - 2), {{"\"\"", "\""}});
}

}  // namespace

absl::StatusOr<CsvTable> CsvTable::Parse(std::string name, std::string text) {
  CsvTable table;
  table.name_ = std::move(name);
  table.text_ = std::make_shared<const std::string>(std::move(text));
  absl::string_view rest = *table.text_;
  absl::ConsumePrefix(&rest, "\xEF\xBB\xBF");
  std::vector<absl::string_view> fields;
  for (int number = 1; !rest.empty(); ++number) {
    const size_t end = rest.find('\n');
    const absl::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == absl::string_view::npos ? rest.size() : end + 1);
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    fields.clear();
    if (!Split(line, &fields))
      return table.Error(absl::StrCat("row ", number, ": a quote (\") is not closed, or text follows it"));
    if (table.columns_.empty()) {
      for (const absl::string_view field : fields) {
        std::string column = Unquote(field);
        if (column.empty()) {
          return table.Error(absl::StrCat("header: column ", table.columns_.size() + 1, " has no name"));
        }
        if (table.Column(column) >= 0) return table.Error(absl::StrCat("header: two columns ", Quote(column)));
        table.columns_.push_back(std::move(column));
      }
      continue;
    }
    if (fields.size() != table.columns_.size()) {
      return table.Error(absl::StrCat("row ", number, ": ", fields.size(), " fields, but the header has ",
                                      table.columns_.size(), " columns"));
    }
    table.cells_.insert(table.cells_.end(), fields.begin(), fields.end());
    table.lines_.push_back(number);
  }
  if (table.columns_.empty()) return table.Error("empty, must begin with a header");
  if (table.lines_.empty()) return table.Error("a header, but no rows");
  return table;
}

int CsvTable::Column(absl::string_view column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  return found == columns_.end() ? -1 : static_cast<int>(found - columns_.begin());
}

absl::string_view CsvTable::Raw(int row, int column) const { return cells_[row * columns_.size() + column]; }

std::string CsvTable::Text(int row, int column) const { return Unquote(Raw(row, column)); }

absl::StatusOr<double> CsvTable::Number(int row, int column) const {
  const absl::string_view raw = Raw(row, column);
  double value = 0;
  const bool number =
      absl::StartsWith(raw, "\"") ? absl::SimpleAtod(Text(row, column), &value) : absl::SimpleAtod(raw, &value);
  if (!number) {
    return Error(row, column,
                 raw.empty() ? "empty, must be a number" : absl::StrCat(Quote(Text(row, column)), " is not a number"));
  }
  if (!std::isfinite(value)) return Error(row, column, absl::StrCat(Quote(Text(row, column)), " is not finite"));
  return value;
}

absl::Status CsvTable::Error(absl::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat(name_, ": ", what));
}

absl::Status CsvTable::Error(int row, int column, absl::string_view what) const {
  return Error(absl::StrCat("row ", lines_[row], ", column ", columns_[column], ": ", what));
}

absl::StatusOr<std::string> ReadInput(const std::string& path, std::istream& standard_input) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(standard_input), {});
  std::FILE* file = std::fopen(path.c_str(), "rb");
  std::string text;
  if (file != nullptr) {
    char buffer[1 << 16];
    while (const size_t n = std::fread(buffer, 1, sizeof(buffer), file)) text.append(buffer, n);
    if (!std::ferror(file)) {
      std::fclose(file);
      return text;
    }
  }
  const std::string reason = std::strerror(errno);
  if (file != nullptr) std::fclose(file);
  return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read: ", reason));
}

std::string DisplayName(const std::string& path) { return path == "-" ? "standard input" : path; }

}  // namespace fidelio::cli
