// Scripts by which shells complete the command line. They are made from the tree of commands itself, so that they know
// what it knows.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CLI_COMPLETION_H_
#define FIDELIO_CLIENT_CLI_COMPLETION_H_

#include <map>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace fidelio::cli {

// Words that options take, for those that take a few.
using OptionWords = std::map<const CLI::Option*, std::vector<std::string>>;

// Commands, options and their words; files where the type of an option or the name of a positional is FILE; names of
// models, asked of the server, where it is NAME.
std::string BashCompletion(const CLI::App& app, const OptionWords& words);
std::string ZshCompletion(const CLI::App& app, const OptionWords& words);
std::string FishCompletion(const CLI::App& app, const OptionWords& words);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_COMPLETION_H_
