// What a user should know about the result of a fit, from its report.
//
//   R̂ > 1.1                       chains that sampled the hyperparameters disagree
//   0 < effective size < 10       few independent draws; 0 is unknown, and no warning
//   failed columns of Hessians    the weights of modes are rough
//
// A free function without state: safe from every thread.
#ifndef FIDELIO_CORE_EMULATOR_FIT_WARNINGS_H_
#define FIDELIO_CORE_EMULATOR_FIT_WARNINGS_H_

#include <string>
#include <vector>

#include "core/base/export.h"
#include "core/emulator/fit_options.h"

namespace fidelio {

inline constexpr double kMostRHat = 1.1;           // of chains that agree
inline constexpr double kLeastEffectiveSize = 10;  // of hyperparameters that were sampled well enough

// A sentence or two each, with what to do; empty when there is nothing to say.
FIDELIO_EXPORT std::vector<std::string> FitWarnings(const FitReport& report);

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_FIT_WARNINGS_H_
