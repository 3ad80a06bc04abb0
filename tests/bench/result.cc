#include "tests/bench/result.h"

#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/parallel.h"
#include "tests/bench/methods.h"

namespace fidelio::bench {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

bool AllFinite(const Scores& s) {
  return std::isfinite(s.rmse) && std::isfinite(s.mnll) && std::isfinite(s.crps) && std::isfinite(s.coverage95);
}

// Null for a number that JSON cannot hold.
nlohmann::json Number(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(); }

double Get(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

double Result::standardised_rmse() const { return scores.rmse / test_sd; }
double Result::standardised_mnll() const { return scores.mnll - std::log(test_sd); }

Result Evaluate(const Case& data, const std::string& method, uint64_t fit_seed, int threads) {
  Result result;
  result.problem = data.problem;
  result.seed = data.seed;
  result.method = method;
  result.test_sd = StandardDeviation(data.test.y);
  const absl::StatusOr<Method> fit = FindMethod(method);
  if (!fit.ok()) {
    result.error = std::string(fit.status().message());
    return result;
  }
  const Clock::time_point start = Clock::now();
  const absl::StatusOr<FittedEmulator> fitted = (*fit)(data.train, fit_seed, threads);
  result.fit_seconds = SecondsSince(start);
  if (!fitted.ok()) {
    result.error = absl::StrCat("fit: ", fitted.status().message());
    return result;
  }
  result.evaluations = fitted->evaluations;

  PredictOptions options;
  options.include_noise = true;
  options.threads = threads;
  const Clock::time_point predict_start = Clock::now();
  absl::StatusOr<Prediction> prediction = fitted->emulator->Predict(data.test.x, options);
  result.predict_us_per_point = 1e6 * SecondsSince(predict_start) / static_cast<double>(data.test.y.size());
  if (prediction.ok()) {
    options.quantiles = {0.025, 0.975};
    prediction = fitted->emulator->Predict(data.test.x, options);
  }
  if (!prediction.ok()) {
    result.error = absl::StrCat("predict: ", prediction.status().message());
    return result;
  }
  result.scores = Score(data.test.y, *prediction);
  if (!AllFinite(result.scores) || !prediction->quantiles.allFinite()) result.error = "predict: not finite";
  return result;
}

std::vector<Result> EvaluateAll(const std::vector<Case>& cases, const std::vector<std::string>& methods,
                                uint64_t fit_seed, int threads, int jobs) {
  std::vector<Result> results(cases.size() * methods.size());
  ParallelFor(static_cast<int>(results.size()), jobs, [&](int i) {
    const size_t data = static_cast<size_t>(i) / methods.size();
    const size_t method = static_cast<size_t>(i) % methods.size();
    results[i] = Evaluate(cases[data], methods[method], fit_seed, threads);
  });
  return results;
}

nlohmann::json ToJson(const Result& result) {
  nlohmann::json object = {{"problem", result.problem},         {"seed", result.seed},
                           {"method", result.method},           {"test_sd", Number(result.test_sd)},
                           {"fit_seconds", result.fit_seconds}, {"evaluations", result.evaluations}};
  if (!result.ok()) object["error"] = result.error;
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  const auto value = [&](double number) { return Number(result.ok() ? number : nothing); };
  object["r2"] = value(result.scores.r2);
  object["rmse"] = value(result.scores.rmse);
  object["mnll"] = value(result.scores.mnll);
  object["crps"] = value(result.scores.crps);
  object["coverage95"] = value(result.scores.coverage95);
  object["predict_us_per_point"] = value(result.predict_us_per_point);
  return object;
}

nlohmann::json ToJson(const std::vector<Result>& results) {
  nlohmann::json list = nlohmann::json::array();
  for (const Result& result : results) list.push_back(ToJson(result));
  return list;
}

absl::StatusOr<std::vector<Result>> ReadResults(const std::string& path) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be opened"));
  const nlohmann::json list = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return absl::InvalidArgumentError(absl::StrCat(path, ": must be a JSON list of results"));
  std::vector<Result> results;
  for (const nlohmann::json& object : list) {
    if (!object.is_object() || !object.contains("problem") || !object["problem"].is_string() ||
        !object.contains("method") || !object["method"].is_string()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": entry ", results.size(), " must have the strings problem and method"));
    }
    Result result;
    result.problem = object["problem"].get<std::string>();
    result.method = object["method"].get<std::string>();
    result.seed = static_cast<int64_t>(Get(object, "seed"));
    result.scores = {.r2 = Get(object, "r2"),
                     .rmse = Get(object, "rmse"),
                     .mnll = Get(object, "mnll"),
                     .crps = Get(object, "crps"),
                     .coverage95 = Get(object, "coverage95")};
    result.test_sd = Get(object, "test_sd");
    result.fit_seconds = Get(object, "fit_seconds");
    if (!std::isfinite(result.scores.rmse) || !std::isfinite(result.scores.mnll)) result.error = "no scores";
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace fidelio::bench
