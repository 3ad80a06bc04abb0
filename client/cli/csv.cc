#include "client/cli/csv.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
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
constexpr char kOpenQuote[] = "a quote (\") is not closed, or text follows it";

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

bool IsNumber(absl::string_view field) {
  double number = 0;
  return absl::SimpleAtod(Unquote(field), &number);
}

}  // namespace

absl::StatusOr<CsvTable> CsvTable::Parse(std::string name, std::string text) {
  std::istringstream in(std::move(text));
  CsvReader reader(std::move(name), in);
  auto table = reader.NextCsv(std::numeric_limits<int>::max());
  if (!table.ok()) return table.status();
  return std::move(**table);
}

absl::string_view CsvTable::Raw(int row, int column) const {
  return cells_[static_cast<size_t>(row) * columns_->size() + static_cast<size_t>(column)];
}

std::string CsvTable::Text(int row, int column) const { return Unquote(Raw(row, column)); }

void CsvTable::AppendCsv(int row, int column, std::string* out) const { absl::StrAppend(out, Raw(row, column)); }

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

std::string CsvTable::Place(int row, int column) const {
  return absl::StrCat("row ", lines_[static_cast<size_t>(row)], ", column ", (*columns_)[static_cast<size_t>(column)]);
}

absl::Status CsvReader::Error(absl::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat(*name_, ": ", what));
}

absl::Status CsvReader::ReadHeader() {
  std::string text;
  while (std::getline(in_, text)) {
    absl::string_view line = text;
    if (++line_ == 1) absl::ConsumePrefix(&line, "\xEF\xBB\xBF");
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    std::vector<absl::string_view> fields;
    if (!Split(line, &fields)) return Error(absl::StrCat("row ", line_, ": ", kOpenQuote));
    // A row of data, the first field of which may be the name of a fidelity.
    if (std::all_of(fields.begin() + (fields.size() > 1 ? 1 : 0), fields.end(), IsNumber)) {
      return Error(absl::StrCat("row ", line_, ": numbers, but the first row must be a header, as in x1,x2,y"));
    }
    std::vector<std::string> columns;
    for (const absl::string_view field : fields) {
      std::string column = Unquote(field);
      if (column.empty()) return Error(absl::StrCat("header: column ", columns.size() + 1, " has no name"));
      if (std::find(columns.begin(), columns.end(), column) != columns.end()) {
        return Error(absl::StrCat("header: two columns ", Quote(column)));
      }
      columns.push_back(std::move(column));
    }
    // One column whose name has what others separate columns by.
    if (const size_t other = columns[0].find_first_of(";\t"); columns.size() == 1 && other != std::string::npos) {
      return Error(absl::StrCat("header: columns are separated by ", columns[0][other] == ';' ? "semicolons" : "tabs",
                                ", but must be by commas"));
    }
    columns_ = std::make_shared<const std::vector<std::string>>(std::move(columns));
    return absl::OkStatus();
  }
  return Error(in_.bad() ? "cannot be read" : "empty, must start with a header");
}

absl::StatusOr<std::unique_ptr<DataTable>> CsvReader::Next(int most) { return NextCsv(most); }

absl::StatusOr<std::unique_ptr<CsvTable>> CsvReader::NextCsv(int most) {
  if (columns_ == nullptr) {
    if (absl::Status status = ReadHeader(); !status.ok()) return status;
  }
  std::string text, line;
  std::vector<std::pair<size_t, size_t>> spans;  // of the lines that are rows, in `text`
  auto table = std::make_unique<CsvTable>();
  while (table->rows() < most && std::getline(in_, line)) {
    ++line_;
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    spans.emplace_back(text.size(), line.size());
    text += line;
    table->lines_.push_back(line_);
  }
  if (in_.bad()) return Error("cannot be read");
  if (table->rows() == 0) {
    if (!any_) return Error("a header, but no rows");
    return nullptr;
  }
  any_ = true;
  table->name_ = name_;
  table->columns_ = columns_;
  table->text_ = std::make_shared<const std::string>(std::move(text));
  table->cells_.reserve(spans.size() * columns_->size());
  for (size_t i = 0; i < spans.size(); ++i) {
    const size_t before = table->cells_.size();
    const absl::string_view row = absl::string_view(*table->text_).substr(spans[i].first, spans[i].second);
    if (!Split(row, &table->cells_)) return Error(absl::StrCat("row ", table->lines_[i], ": ", kOpenQuote));
    if (const size_t fields = table->cells_.size() - before; fields != columns_->size()) {
      return Error(absl::StrCat("row ", table->lines_[i], ": ", fields, fields == 1 ? " field" : " fields",
                                ", but the header has ", columns_->size(),
                                columns_->size() == 1 ? " column" : " columns"));
    }
  }
  return table;
}

}  // namespace fidelio::cli
