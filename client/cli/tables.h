// What tables mean: observations (fidelity, inputs, output, noise variance) and inputs.
//
// Columns go by name and may come in any order (columns.h). Errors are INVALID_ARGUMENT and name file, row and column as the user sees them.
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CLI_TABLES_H_
#define FIDELIO_CLIENT_CLI_TABLES_H_

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/columns.h"
#include "client/cli/data_table.h"
#include "client/cpp/types.h"
#include "fidelio/v1/model.pb.h"

namespace fidelio::cli {

// Observations of a file, one batch per level that occurs, the lowest first.
struct ObservationTable {
  std::vector<client::Observations> batches;
  std::vector<std::vector<int>> rows;  // of each batch: the rows of the table it is made from
  ObservationColumns columns = {};     // of the table
};

// The level of a fidelity's name, or of a number from 0: "high" or "1". INVALID_ARGUMENT lists those that there are.
absl::StatusOr<int> ParseLevel(const v1::Model& model, const std::string& text);

// All rows of a table of observations. It has a column level or fidelity, unless `level` is given or the model has one
// fidelity.
absl::StatusOr<ObservationTable> ReadObservations(const DataTable& table, const v1::Model& model,
                                                  std::optional<int> level);

// Names for the columns of a table that has none. Of observations: level (unless that is given, or there is one
// fidelity), the inputs, the output and, if there is one more, noise_variance. Of inputs: these and, if there is one more,
// the output.
NameColumns NameObservationColumns(const v1::Model& model, std::optional<int> level);
NameColumns NameInputColumns(const v1::Model& model);

// The inputs of a table; other columns are left alone.
absl::StatusOr<Eigen::MatrixXd> ReadInputs(const DataTable& table, const v1::Model& model);

// The outputs of a table, which must be there.
absl::StatusOr<Eigen::VectorXd> ReadOutputs(const DataTable& table, const v1::Model& model);

// One column of numbers, which must be there.
absl::StatusOr<Eigen::VectorXd> ReadColumn(const DataTable& table, const std::string& column);

// The server's error about a batch of AddObservations ("observations[1].inputs: element [3, 0] …") with the row and
// column of the file that it is about; other errors stay as they are.
absl::Status InTermsOfFile(const absl::Status& status, const DataTable& table, const ObservationTable& observations);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_TABLES_H_
