// Summary: means and percentiles of results, grouped by problem and method, and their tables.
#ifndef FIDELIO_TESTS_BENCH_SUMMARY_H_
#define FIDELIO_TESTS_BENCH_SUMMARY_H_

#include <string>
#include <vector>

#include "tests/bench/result.h"

namespace fidelio::bench {

struct Summary {
  std::string problem;  // "overall" for all of them
  std::string method;
  int runs = 0;
  int failures = 0;  // left out of everything below
  Scores mean;
  double rmse_mean = 0;  // standardised, as the next three
  double rmse_p90 = 0;
  double mnll_mean = 0;
  double mnll_p90 = 0;
  double fit_seconds = 0;
  double evaluations = 0;
  double predict_us_per_point = 0;
};

// Of the results of that method, and of that problem unless it is empty.
Summary Summarise(const std::vector<Result>& results, const std::string& problem, const std::string& method);

// The results of both methods on the data sets where both succeeded.
std::vector<Result> OnCommonData(const std::vector<Result>& results, const std::string& method,
                                 const std::string& other);

// In order of first appearance.
std::vector<std::string> ProblemsOf(const std::vector<Result>& results);
std::vector<std::string> MethodsOf(const std::vector<Result>& results);

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_SUMMARY_H_
