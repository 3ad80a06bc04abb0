// Columns: which column of a file is which input, the output, the noise variance and the fidelity of a model.
//
// Inputs go by their names in any order: those of the model, or x1 … xd when it has none. The output goes by its name or
// `y`, known variances by `noise_variance` or `noise`. Errors are INVALID_ARGUMENT and list the names to expect.
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CLI_COLUMNS_H_
#define FIDELIO_CLIENT_CLI_COLUMNS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/data_table.h"
#include "fidelio/v1/model.pb.h"

namespace fidelio::cli {

// Columns of observations. −1: not there.
struct ObservationColumns {
  std::vector<int> inputs = {};  // one per input of the model
  int output = -1;
  int noise = -1;
  int fidelity = -1;  // level or fidelity
};

// All columns of a table of observations; others are refused but those in `known`.
absl::StatusOr<ObservationColumns> FindObservationColumns(const DataTable& table, const v1::Model& model,
                                                          const std::vector<std::string>& known = {});

// The columns of the inputs; others are left alone.
absl::StatusOr<std::vector<int>> FindInputColumns(const DataTable& table, const v1::Model& model);

// The column of the output, which must be there.
absl::StatusOr<int> FindOutputColumn(const DataTable& table, const v1::Model& model);

// "thickness, load"; with more than `most` names, their ends: "x1, …, x9".
std::string InputList(const v1::Model& model, size_t most = 12);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_COLUMNS_H_
