// The cases of each family of models (calibration_cases.h). Each has a stream of random numbers of its own.
#ifndef FIDELIO_TESTS_BENCH_CALIBRATION_FAMILIES_H_
#define FIDELIO_TESTS_BENCH_CALIBRATION_FAMILIES_H_

#include <vector>

#include "tests/bench/calibration_cases.h"

namespace fidelio::bench {

inline constexpr int kLowPoints = 10, kHighPoints = 6, kTestPoints = 10;

// The streams of a case: of its data, and of its ranks (+ 1).
inline constexpr uint32_t kMomentStream = 100, kBaselineStream = 200, kVariationalStream = 300;

// Of the fit of a replicate.
inline uint64_t FitSeed(uint64_t seed, uint32_t replicate) { return (seed << 32) + replicate; }

std::vector<CalibrationCase> MomentCalibration();
std::vector<CalibrationCase> BaselineCalibration();
std::vector<CalibrationCase> VariationalCalibration();

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_CALIBRATION_FAMILIES_H_
