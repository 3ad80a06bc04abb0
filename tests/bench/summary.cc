#include "tests/bench/summary.h"

#include <algorithm>
#include <set>
#include <utility>

namespace fidelio::bench {
namespace {

std::vector<std::string> Distinct(const std::vector<Result>& results, std::string Result::*member) {
  std::vector<std::string> names;
  for (const Result& result : results) {
    if (std::find(names.begin(), names.end(), result.*member) == names.end()) names.push_back(result.*member);
  }
  return names;
}

}  // namespace

Summary Summarise(const std::vector<Result>& results, const std::string& problem, const std::string& method) {
  Summary summary;
  summary.problem = problem.empty() ? "overall" : problem;
  summary.method = method;
  std::vector<double> r2, rmse, mnll, crps, coverage, standardised_rmse, standardised_mnll, seconds, evaluations, us;
  for (const Result& result : results) {
    if (result.method != method || (!problem.empty() && result.problem != problem)) continue;
    ++summary.runs;
    if (!result.ok()) {
      ++summary.failures;
      continue;
    }
    r2.push_back(result.scores.r2);
    rmse.push_back(result.scores.rmse);
    mnll.push_back(result.scores.mnll);
    crps.push_back(result.scores.crps);
    coverage.push_back(result.scores.coverage95);
    standardised_rmse.push_back(result.standardised_rmse());
    standardised_mnll.push_back(result.standardised_mnll());
    seconds.push_back(result.fit_seconds);
    evaluations.push_back(static_cast<double>(result.evaluations));
    us.push_back(result.predict_us_per_point);
  }
  summary.mean = {
      .r2 = Mean(r2), .rmse = Mean(rmse), .mnll = Mean(mnll), .crps = Mean(crps), .coverage95 = Mean(coverage)};
  summary.rmse_mean = Mean(standardised_rmse);
  summary.rmse_p90 = Percentile(standardised_rmse, 0.9);
  summary.mnll_mean = Mean(standardised_mnll);
  summary.mnll_p90 = Percentile(standardised_mnll, 0.9);
  summary.fit_seconds = Mean(seconds);
  summary.evaluations = Mean(evaluations);
  summary.predict_us_per_point = Mean(us);
  return summary;
}

std::vector<Result> OnCommonData(const std::vector<Result>& results, const std::string& method,
                                 const std::string& other) {
  std::set<std::pair<std::string, int64_t>> succeeded[2];
  for (const Result& result : results) {
    if (!result.ok()) continue;
    if (result.method == method) succeeded[0].emplace(result.problem, result.seed);
    if (result.method == other) succeeded[1].emplace(result.problem, result.seed);
  }
  std::vector<Result> common;
  for (const Result& result : results) {
    const std::pair<std::string, int64_t> data(result.problem, result.seed);
    if (succeeded[0].contains(data) && succeeded[1].contains(data)) common.push_back(result);
  }
  return common;
}

std::vector<std::string> ProblemsOf(const std::vector<Result>& results) { return Distinct(results, &Result::problem); }

std::vector<std::string> MethodsOf(const std::vector<Result>& results) { return Distinct(results, &Result::method); }

}  // namespace fidelio::bench
