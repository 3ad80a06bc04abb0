// Skewness: where the mean of a prediction is a poor summary of it.
//
// Mean and median part where the mean lies outside the central 50 % interval: less than a quarter of the probability is on one
// side of it. A Gaussian's never does; that of y = e^z, z ~ N(m, s²), does from s = 1.35 on, where it is 2.5 times the median.
#ifndef FIDELIO_CORE_EMULATOR_SKEWNESS_H_
#define FIDELIO_CORE_EMULATOR_SKEWNESS_H_

#include <string>
#include <vector>

#include "core/base/export.h"
#include "core/emulator/emulator.h"

namespace fidelio {

// `mean_cdf`: the probability of values up to the mean.
FIDELIO_EXPORT bool MeanAndMedianPart(double mean_cdf);

// What users should know about a prediction, a sentence each; empty in most cases.
FIDELIO_EXPORT std::vector<std::string> PredictionWarnings(const Prediction& prediction);

// The same about leave-one-out predictions of a fidelity.
FIDELIO_EXPORT std::vector<std::string> LeaveOneOutWarnings(const LeaveOneOut& left_out, const std::string& fidelity);

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_SKEWNESS_H_
