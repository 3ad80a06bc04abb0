// Data that breaks careless numerics: every case must fit, and predict finite numbers at every level.
#ifndef FIDELIO_TESTS_BENCH_STRESS_CASES_H_
#define FIDELIO_TESTS_BENCH_STRESS_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/bench/result.h"

namespace fidelio::bench {

// One data set per stress case, made from the seed. A case without test points (where no truth is to be met) has an
// empty Case::test.
std::vector<Case> MakeStressCases(int64_t seed);

// One-sided data in one dimension: the high fidelity is seen in the left half only.
Case MakeOneSidedCase(int64_t seed);

// The problems in which the low fidelity is useless or reversed.
std::vector<std::string> BadlyLinkedProblems();

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_STRESS_CASES_H_
