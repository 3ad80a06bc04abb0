#include "tests/bench/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace fidelio::bench {

namespace {

bool StartsLikeAWord(const std::string& cell) { return !cell.empty() && absl::ascii_isalpha(cell[0]); }

}  // namespace

std::string Table::ToString() const {
  const size_t columns = rows_[0].size();
  std::vector<size_t> widths(columns);
  std::vector<bool> words(columns);
  for (size_t i = 0; i < rows_.size(); ++i) {
    for (size_t j = 0; j < columns; ++j) {
      widths[j] = std::max(widths[j], rows_[i][j].size());
      if (i > 0 && StartsLikeAWord(rows_[i][j])) words[j] = true;
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t j = 0; j < columns; ++j) {
      const std::string padding(widths[j] - row[j].size(), ' ');
      absl::StrAppend(&line, j > 0 ? "  " : "", words[j] ? row[j] + padding : padding + row[j]);
    }
    absl::StripTrailingAsciiWhitespace(&line);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

void Table::Print() const {
  std::fputs(ToString().c_str(), stdout);
  std::fflush(stdout);
}

std::string Fixed(double value, int digits) {
  return std::isfinite(value) ? absl::StrFormat("%.*f", digits, value) : "-";
}

std::string Short(double value) { return std::isfinite(value) ? absl::StrFormat("%.3g", value) : "-"; }

}  // namespace fidelio::bench
