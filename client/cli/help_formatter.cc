#include "client/cli/help_formatter.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace fidelio::cli {
namespace {

constexpr size_t kWidth = 110;  // of a line of help

// Characters of UTF-8.
size_t Length(absl::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string Wrap(absl::string_view text, size_t width) {
  std::string out;
  size_t column = 0;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    const size_t length = Length(word);
    if (column > 0 && column + 1 + length > width) {
      absl::StrAppend(&out, "\n");
      column = 0;
    }
    absl::StrAppend(&out, column > 0 ? " " : "", word);
    column += length + (column > 0 ? 1 : 0);
  }
  return out;
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  return Wrap(option->get_description(), kWidth - get_column_width());
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  const bool positional = option->get_lnames().empty() && option->get_snames().empty();
  return positional ? "" : CLI::Formatter::make_option_opts(option);
}

}  // namespace fidelio::cli
