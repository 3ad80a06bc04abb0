// Why a Suggest gave fewer runs than asked for, in words.
//
// Free function without state: safe from every thread.
#ifndef FIDELIO_SERVER_MODEL_SHORTFALL_REASON_H_
#define FIDELIO_SERVER_MODEL_SHORTFALL_REASON_H_

#include <string>
#include <vector>

#include "core/base/types.h"
#include "core/design/suggest.h"

namespace fidelio {

// Empty when there is no shortfall. `options` are those of the Suggest, `candidates` their number, `spent` the cost of all runs,
// `names` those of the fidelities, one per level.
std::string ShortfallReason(const Suggestions& chosen, const SuggestOptions& options, Eigen::Index candidates,
                            double spent, const std::vector<std::string>& names);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_SHORTFALL_REASON_H_
