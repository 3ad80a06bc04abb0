// Diagnostics: whether a model can be trusted, judged by its predictions of left-out observations.
//
// A good model has r2 near 1, and intervals that hold: about half of the observations lie in the central 50 % interval and
// 90 % in the 90 % interval, with residuals of size 1. Few observations are weak evidence: of 10, expect one outside the 90 %
// interval.
#ifndef FIDELIO_CORE_EMULATOR_DIAGNOSTICS_H_
#define FIDELIO_CORE_EMULATOR_DIAGNOSTICS_H_

#include "core/base/export.h"
#include "core/base/types.h"
#include "core/emulator/emulator.h"

namespace fidelio {

struct LevelDiagnostics {
  int count = 0;                // observations; without any, the rest is 0
  int distinct_count = 0;       // inputs among those: copies were left out together
  Vector mean, variance, cdf;   // as in LeaveOneOut, in the order of the observations
  Vector median;                // as in LeaveOneOut
  Vector residuals;             // (y − mean)/sd
  double rmse = 0;              // √mean (y − mean)²
  double median_rmse = 0;       // √mean (y − median)²
  double r2 = 0;                // 1 − Σ(y − mean)² / Σ(y − ȳ)²; 0 where all y agree
  double mean_log_density = 0;  // of the observations
  double coverage50 = 0, coverage90 = 0, coverage95 = 0;  // shares within the central intervals of the mixture
  double inflation = 1;                                   // as in LeaveOneOut
};

FIDELIO_EXPORT LevelDiagnostics Diagnose(const LeaveOneOut& left_out);

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_DIAGNOSTICS_H_
