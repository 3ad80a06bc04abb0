// The modes of a search: which are worth sampling, and how much each counts.
#ifndef FIDELIO_CORE_FIT_SEARCH_MODES_H_
#define FIDELIO_CORE_FIT_SEARCH_MODES_H_

#include <vector>

#include "absl/status/status.h"
#include "core/fit/search_settings.h"
#include "core/fit/search_state.h"
#include "core/fit/target.h"

namespace fidelio {

// The distinct ends of the L-BFGS runs, those of structures with all levels first, then by their value, without those far
// below the best that explains the same levels.
std::vector<SearchMode> DistinctModes(const std::vector<SearchStart>& ends, const Target& target);

// From Hessians to evidence: Laplace's, completed by the target.
absl::Status MeasureEvidence(const Target& target, std::vector<SearchMode>& modes);

// Weights ∝ evidence^(1/temperature), at most `modes` of them not 0, summing to 1.
void WeighByEvidence(const SearchSettings& settings, std::vector<SearchMode>& modes);

}  // namespace fidelio

#endif  // FIDELIO_CORE_FIT_SEARCH_MODES_H_
