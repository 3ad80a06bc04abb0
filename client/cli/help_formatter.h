// HelpFormatter: the help of commands, with descriptions that are broken into lines.
//
// Immutable; safe to share between threads.
#ifndef FIDELIO_CLIENT_CLI_HELP_FORMATTER_H_
#define FIDELIO_CLIENT_CLI_HELP_FORMATTER_H_

#include <cstddef>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/string_view.h"

namespace fidelio::cli {

// The text with line ends instead of blanks, so that no line has more than `width` characters, unless a word has.
std::string Wrap(absl::string_view text, size_t width);

class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override;
  // Positionals are words: their type and that they are needed, the line of usage tells.
  std::string make_option_opts(const CLI::Option* option) const override;
};

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_HELP_FORMATTER_H_
