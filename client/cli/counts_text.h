// Numbers of observations per fidelity, in words. Safe from every thread.
#ifndef FIDELIO_CLIENT_CLI_COUNTS_TEXT_H_
#define FIDELIO_CLIENT_CLI_COUNTS_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "fidelio/v1/model.pb.h"

namespace fidelio::cli {

// "20 low and 5 high"
std::string CountsText(const v1::Model& model, const std::vector<int64_t>& counts);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_COUNTS_TEXT_H_
