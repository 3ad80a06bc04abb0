// Names of the columns of a model's tables: those that the model has, or x1..xd and y.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CLI_MODEL_COLUMNS_H_
#define FIDELIO_CLIENT_CLI_MODEL_COLUMNS_H_

#include <string>
#include <vector>

#include "fidelio/v1/model.pb.h"

namespace fidelio::cli {

std::vector<std::string> InputColumnNames(const v1::Model& model);
std::string OutputColumnName(const v1::Model& model);

// "20 low and 5 high": observations per fidelity.
std::string CountsText(const v1::Model& model, const std::vector<int64_t>& counts);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_MODEL_COLUMNS_H_
