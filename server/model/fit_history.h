// The history of a fit: how its objective went, in a bounded number of points.
//
// Every iteration is kept until there are kMostFitPoints; then every other one is dropped and from there on every second
// is kept, then every fourth, and so on. The first point and the newest are always there.
#ifndef FIDELIO_SERVER_MODEL_FIT_HISTORY_H_
#define FIDELIO_SERVER_MODEL_FIT_HISTORY_H_

#include <vector>

#include "server/model/model_types.h"

namespace fidelio {

inline constexpr int kMostFitPoints = 200;

// Points come in ascending order of iterations. One that does not (the fit went on from an older state, after a crash)
// replaces what was known from there on.
void AddToHistory(FitPoint point, std::vector<FitPoint>& history);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_FIT_HISTORY_H_
