// --input and --output of `fidelio model create` and `update`: names, units and ranges as people type them.
//
//   thickness            thickness[mm]            thickness=0.5:3            thickness[mm]=0.5:3
//
// A name has neither '[' nor '=', so a flag can be read in one way only. Errors are INVALID_ARGUMENT and begin with the flag.
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CLI_VARIABLE_FLAGS_H_
#define FIDELIO_CLIENT_CLI_VARIABLE_FLAGS_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "client/cli/as_typed.h"
#include "fidelio/v1/model.pb.h"

namespace fidelio::cli {

// As typed. Empty: not said.
struct VariableFlags {
  std::vector<std::string> inputs = {};  // one per input, in the order of the columns
  std::string output = {};
};

void AddVariableFlags(CLI::App* command, VariableFlags& flags);

// Sets what was said: names, units and, if the inputs have ranges, the box. Descriptions stay with the names that they had.
// input_dimension must agree, and is set when it is 0.
absl::Status ApplyVariables(const VariableFlags& flags, v1::Model* model);

// Whether the inputs were given ranges.
bool HasRanges(const VariableFlags& flags);

// The flags that the server's errors are about.
TypedNames VariableNames();

// What people are shown of the variables of a model that has names: rows "input 1", "thickness (mm), 0.5 to 3, …".
std::vector<std::vector<std::string>> DescribeVariables(const v1::Model& model);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_VARIABLE_FLAGS_H_
