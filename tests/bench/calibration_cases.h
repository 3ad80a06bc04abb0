// Simulation-based calibration (Talts et al. 2018): hyperparameters θ, functions f and data y are drawn from a model's own
// prior; y is fitted; and the rank of the true values among draws of the posterior is noted.
//
// A library of its own, since it needs what libfidelio_core hides: it holds a private copy of core. Only types of the
// standard library cross its border.
#ifndef FIDELIO_TESTS_BENCH_CALIBRATION_CASES_H_
#define FIDELIO_TESTS_BENCH_CALIBRATION_CASES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/export.h"

namespace fidelio::bench {

inline constexpr int kRankDraws = 99;  // L: ranks are 0 … L

struct CalibrationReplicate {
  std::string error;            // empty: none
  std::vector<int> ranks;       // one per quantity of the case
  int points = 0, covered = 0;  // values of f at the highest level, and those within their 95 % intervals
};

enum class CalibrationBar {
  kUniformRanks,  // inference is exact
  kCoverage,      // it is approximate
  kNone,          // for information: what is known to be off, and how far
};

struct CalibrationCase {
  std::string name;
  CalibrationBar bar = CalibrationBar::kNone;
  std::vector<std::string> quantities;  // whose ranks are noted: hyperparameters, f0: f of level 0 at a test input, …
  // Depends on its arguments alone. Safe from several threads.
  std::function<CalibrationReplicate(uint64_t seed, uint32_t replicate)> run;
};

FIDELIO_EXPORT std::vector<CalibrationCase> CalibrationCases();

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_CALIBRATION_CASES_H_
