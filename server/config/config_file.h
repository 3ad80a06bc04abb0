// The format of configuration files: one `name = value` per line, a subset of TOML.
//
//   # a comment
//   fit_workers = 2                  # another
//   data_dir = "/var/lib/fidelio"    # quotes keep spaces and #; \" and \\ stand for " and \ within them
//
// A name may appear once.
#ifndef FIDELIO_SERVER_CONFIG_CONFIG_FILE_H_
#define FIDELIO_SERVER_CONFIG_CONFIG_FILE_H_

#include <string>
#include <string_view>
#include <vector>

namespace fidelio {

struct ConfigFileEntry {
  std::string name;
  std::string value;
  int line = 0;  // from 1
};

struct ConfigFileContents {
  std::vector<ConfigFileEntry> entries;
  std::vector<std::string> problems;  // each begins with file:line
};

// `file` names the text in problems.
ConfigFileContents ParseConfigFile(std::string_view text, std::string_view file);

// A value as a file writes it; with quotes where the value needs them.
std::string QuoteValue(std::string_view value);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_CONFIG_CONFIG_FILE_H_
