// Ids of observations as the user gives them: in a file, or with the outputs that are right.
//
// Errors are INVALID_ARGUMENT and name the argument, or file, row and column. Free functions without state: safe from
// every thread.
#ifndef FIDELIO_CLIENT_CLI_RUN_IDS_H_
#define FIDELIO_CLIENT_CLI_RUN_IDS_H_

#include <istream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cpp/types.h"
#include "fidelio/v1/model.pb.h"

namespace fidelio::cli {

// One id per line (empty lines and those that begin with # do not matter), or CSV whose header has the column run_id.
absl::StatusOr<std::vector<std::string>> ReadIdsFile(const std::string& path, std::istream& standard_input);

// "2-7=0.25"
absl::StatusOr<client::Correction> ParseCorrection(const std::vector<std::string>& values);

// CSV with the columns run_id, the output and, if known, noise_variance; others do not matter.
absl::StatusOr<client::Correction> ReadCorrectionFile(const std::string& path, const v1::Model& model,
                                                      std::istream& standard_input);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_RUN_IDS_H_
