#include "tests/bench/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "absl/strings/str_format.h"

namespace fidelio::bench {

std::string Table::ToString() const {
  std::vector<size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t j = 0; j < row.size(); ++j) widths[j] = std::max(widths[j], row[j].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    for (size_t j = 0; j < row.size(); ++j) {
      const std::string padding(widths[j] - row[j].size(), ' ');
      if (j > 0) text += "  ";
      text += j == 0 ? row[j] + (row.size() > 1 ? padding : "") : padding + row[j];
    }
    text += '\n';
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
