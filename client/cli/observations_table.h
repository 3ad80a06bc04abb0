// Observations as `fidelio observations list` shows them: a table for people, CSV and JSON.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CLI_OBSERVATIONS_TABLE_H_
#define FIDELIO_CLIENT_CLI_OBSERVATIONS_TABLE_H_

#include <string>
#include <vector>

#include "client/cli/json.h"
#include "client/cpp/types.h"
#include "fidelio/v1/model.pb.h"

namespace fidelio::cli {

// `history`: with the columns that say whether and why an observation is no longer in use.
std::string ObservationsText(const v1::Model& model, const std::vector<client::Observations>& batches, bool history);
std::string ObservationsCsv(const v1::Model& model, const std::vector<client::Observations>& batches, bool history);
Json ObservationsJson(const v1::Model& model, const std::vector<client::Observations>& batches);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_OBSERVATIONS_TABLE_H_
