// Runs without outputs, as `fidelio design`, `suggest` and `sample-dpp` write them.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CLI_RUNS_TABLE_H_
#define FIDELIO_CLIENT_CLI_RUNS_TABLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/data_table.h"
#include "client/cpp/design_types.h"
#include "fidelio/v1/model.pb.h"

namespace fidelio::cli {

// Inputs by fidelity, the lowest first, from the columns fidelity (or level; not needed with one fidelity) and the
// inputs; other columns do not matter. INVALID_ARGUMENT names file, row and column.
absl::StatusOr<std::vector<client::FidelityInputs>> ReadRuns(const DataTable& table, const v1::Model& model);

// CSV with the columns fidelity, the inputs, and the output, which is empty: what `fidelio observe` takes once the outputs
// are filled in.
std::string RunsCsv(const v1::Model& model, const std::vector<client::FidelityInputs>& runs);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_RUNS_TABLE_H_
