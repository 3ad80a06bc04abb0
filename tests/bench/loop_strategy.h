// The ways of choosing the next runs that `fidelio-bench loop` compares.
#ifndef FIDELIO_TESTS_BENCH_LOOP_STRATEGY_H_
#define FIDELIO_TESTS_BENCH_LOOP_STRATEGY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/dgp/moments/mf_dgp.h"
#include "tests/support/problems/problem.h"

namespace fidelio::bench {

struct Run {
  Eigen::RowVectorXd x;
  int level = 0;
};

struct LoopRound {
  const Problem& problem;
  const MixtureEmulator& model;  // fitted to all that is known
  int number = 0;                // from 0
  int points = 4;                // of the highest fidelity that the round may cost
  uint64_t seed = 0;             // of the loop
};

//   random          uniform in the box
//   sobol           the next points of a scrambled Sobol' sequence
//   dpp             SampleDPP as it is by default: a draw from the k-DPP of the posterior covariance
//   dpp_mean        the same with the paper's kernel, which leans to large outputs
//   dpp_map         greedily the largest determinant instead of a draw
//   suggest         Suggest: any fidelities, for the same cost
const std::vector<std::string>& LoopStrategies();

// The runs of a round; all cost at most `points` runs of the highest fidelity.
absl::StatusOr<std::vector<Run>> ChooseRuns(const std::string& strategy, const LoopRound& round);

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_LOOP_STRATEGY_H_
