// Command: one subcommand of fidelio-bench.
//
// Every subcommand takes --json OUT and --check (added by main), prints a table while it runs and ends with one summary
// line. To add one: derive from Command in a file of its own, declare its factory in commands.h, list it in main.cc.
#ifndef FIDELIO_TESTS_BENCH_COMMAND_H_
#define FIDELIO_TESTS_BENCH_COMMAND_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace fidelio::bench {

struct Outcome {
  nlohmann::json json;              // what --json writes
  std::vector<std::string> missed;  // bars that were missed, one sentence each; --check fails when there is any
  std::string summary;              // one line
};

class Command {
 public:
  virtual ~Command() = default;

  virtual std::string name() const = 0;
  virtual std::string about() const = 0;
  virtual void AddOptions(CLI::App& app) = 0;

  // Runs with the parsed options. An error is one of usage or of files; a model that fails is a missed bar.
  virtual absl::StatusOr<Outcome> Run() = 0;
};

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_COMMAND_H_
