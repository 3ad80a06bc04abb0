// Result: one fit of one method to one data set, and how well it predicts the test set. The JSON of table1 and problems
// is a list of these objects.
#ifndef FIDELIO_TESTS_BENCH_RESULT_H_
#define FIDELIO_TESTS_BENCH_RESULT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/data/dataset.h"
#include "nlohmann/json.hpp"
#include "tests/bench/metrics.h"

namespace fidelio::bench {

// A data set with a name.
struct Case {
  std::string problem;
  int64_t seed = 0;
  Dataset train;
  LevelData test;
};

struct Result {
  std::string problem;
  int64_t seed = 0;
  std::string method;
  std::string error;  // empty: the fit succeeded and every number is finite
  Scores scores;
  double test_sd = 0;  // of the targets; divides rmse and is subtracted as a logarithm from mnll to standardise them
  double fit_seconds = 0;
  int64_t evaluations = 0;
  double predict_us_per_point = 0;

  bool ok() const { return error.empty(); }
  double standardised_rmse() const;
  double standardised_mnll() const;
};

// Fits and scores. Failures of the model end in Result::error. The method must exist.
Result Evaluate(const Case& data, const std::string& method, uint64_t fit_seed, int threads);

// Evaluates every case with every method, several at a time; the order is that of cases, then of methods.
std::vector<Result> EvaluateAll(const std::vector<Case>& cases, const std::vector<std::string>& methods,
                                uint64_t fit_seed, int threads, int jobs);

nlohmann::json ToJson(const Result& result);
nlohmann::json ToJson(const std::vector<Result>& results);

// Reads a list that ToJson wrote, or another program in the same form (problem, seed, method, rmse, mnll, coverage95
// and test_sd are needed).
absl::StatusOr<std::vector<Result>> ReadResults(const std::string& path);

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_RESULT_H_
