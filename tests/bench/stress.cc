// fidelio-bench stress: no failure on hard data, no harm from a bad low fidelity, and intervals that cover the truth.
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "tests/bench/cases.h"
#include "tests/bench/commands.h"
#include "tests/bench/methods.h"
#include "tests/bench/result.h"
#include "tests/bench/stress_cases.h"
#include "tests/bench/summary.h"
#include "tests/bench/table.h"

namespace fidelio::bench {
namespace {

constexpr double kLowestStressCoverage = 0.90;
constexpr double kHighestStressCoverage = 0.99;
constexpr double kWorstRatio = 1.10;  // rmse of mf_dgp to that of gp when the low fidelity is bad
constexpr double kWidening = 1.0;     // interval width without high-fidelity data to that with it

struct StressResult {
  std::string error;      // empty: nothing wrong
  double coverage = NAN;  // none without test points
};

// The inputs at which a fit is looked at: the test set, or the training inputs and points far outside of them.
Matrix Probes(const Case& data) {
  if (data.test.y.size() > 0) return data.test.x;
  const Matrix& x = data.train.levels[0].x;
  Matrix probes(2 * x.rows(), x.cols());
  probes << x, 10 * x.array() + 1;
  return probes;
}

// Predicts at every level, with and without noise, and names the first thing that is wrong.
std::string CheckPredictions(const Emulator& emulator, const Matrix& x) {
  for (int level = 0; level < emulator.levels(); ++level) {
    for (const bool noise : {false, true}) {
      PredictOptions options;
      options.level = level;
      options.include_noise = noise;
      options.quantiles = {0.025, 0.5, 0.975};
      options.input_gradient = true;
      const absl::StatusOr<Prediction> p = emulator.Predict(x, options);
      if (!p.ok()) return absl::StrCat("predict, level ", level, ": ", p.status().message());
      if (!p->mean.allFinite()) return absl::StrCat("level ", level, ": mean not finite");
      if (!p->variance.allFinite() || p->variance.minCoeff() < 0) {
        return absl::StrCat("level ", level, ": variance not finite or negative");
      }
      if (!p->quantiles.allFinite()) return absl::StrCat("level ", level, ": quantile not finite");
      if (!p->input_gradient.allFinite()) return absl::StrCat("level ", level, ": gradient not finite");
      for (int i = 0; i < x.rows(); ++i) {
        if (p->quantiles(i, 0) > p->quantiles(i, 1) || p->quantiles(i, 1) > p->quantiles(i, 2)) {
          return absl::StrCat("level ", level, ": quantiles out of order");
        }
      }
      const absl::StatusOr<Vector> density = emulator.LogDensity(x, p->mean, options);
      if (!density.ok()) return absl::StrCat("density, level ", level, ": ", density.status().message());
      if (!density->allFinite() && p->variance.minCoeff() > 0) {
        return absl::StrCat("level ", level, ": density not finite");
      }
    }
  }
  return "";
}

StressResult RunStress(const Case& data, Method fit) {
  StressResult result;
  const absl::StatusOr<FittedEmulator> fitted = fit(data.train, /*seed=*/0, /*threads=*/1);
  if (!fitted.ok()) {
    result.error = absl::StrCat("fit: ", fitted.status().message());
    return result;
  }
  result.error = CheckPredictions(*fitted->emulator, Probes(data));
  if (!result.error.empty() || data.test.y.size() == 0) return result;
  PredictOptions options;
  options.include_noise = true;
  options.quantiles = {0.025, 0.975};
  const absl::StatusOr<Prediction> prediction = fitted->emulator->Predict(data.test.x, options);
  if (prediction.ok()) result.coverage = Score(data.test.y, *prediction).coverage95;
  return result;
}

// Mean width of the 95 % interval where no high-fidelity data is, divided by the width where it is.
absl::StatusOr<double> WideningRatio(int64_t seed, Method fit) {
  const Case data = MakeOneSidedCase(seed);
  FIDELIO_ASSIGN_OR_RETURN(const FittedEmulator fitted, fit(data.train, 0, 1));
  PredictOptions options;
  options.quantiles = {0.025, 0.975};
  FIDELIO_ASSIGN_OR_RETURN(const Prediction p, fitted.emulator->Predict(data.test.x, options));
  std::vector<double> with, without;
  for (int i = 0; i < data.test.y.size(); ++i) {
    const double width = p.quantiles(i, 1) - p.quantiles(i, 0);
    if (data.test.x(i, 0) <= 0.5) with.push_back(width);
    if (data.test.x(i, 0) >= 0.6) without.push_back(width);
  }
  return Mean(without) / Mean(with);
}

class StressCommand : public Command {
 public:
  std::string name() const override { return "stress"; }
  std::string about() const override { return "Hard data: no errors, no harm, honest intervals"; }

  void AddOptions(CLI::App& app) override {
    app.add_option("--seeds", seeds_, "data sets per stress case")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--first-seed", first_seed_, "seed of the first data set")->capture_default_str();
    app.add_option("--first-compare-seed", first_compare_seed_, "the same with a bad low fidelity")
        ->capture_default_str();
    app.add_option("--compare-seeds", compare_seeds_, "data sets per problem with a bad low fidelity")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--jobs", jobs_, "data sets at a time")->check(CLI::PositiveNumber)->capture_default_str();
  }

  absl::StatusOr<Outcome> Run() override {
    FIDELIO_ASSIGN_OR_RETURN(const Method fit, FindMethod("mf_dgp"));
    Outcome outcome;
    outcome.json = nlohmann::json::object();
    int failures = 0;
    int runs = 0;
    RunCases(fit, &runs, &failures, &outcome);
    FIDELIO_RETURN_IF_ERROR(RunComparison(&runs, &failures, &outcome));
    RunOneSided(fit, &runs, &failures, &outcome);
    if (failures > 0) outcome.missed.push_back(absl::StrFormat("%d of %d runs failed, bar 0", failures, runs));
    outcome.summary = absl::StrFormat("%d runs, %d failed, mean coverage95 %.3f, %d bars missed", runs, failures,
                                      outcome.json["coverage95"].get<double>(), outcome.missed.size());
    return outcome;
  }

 private:
  void RunCases(Method fit, int* runs, int* failures, Outcome* outcome) const {
    std::vector<Case> cases;
    for (int64_t seed = first_seed_; seed < first_seed_ + seeds_; ++seed) {
      for (Case& data : MakeStressCases(seed)) cases.push_back(std::move(data));
    }
    std::vector<StressResult> results(cases.size());
    ParallelFor(static_cast<int>(cases.size()), jobs_, [&](int i) { results[i] = RunStress(cases[i], fit); });

    const size_t distinct = cases.size() / static_cast<size_t>(seeds_);
    std::vector<double> all_coverage;
    Table table({"case", "runs", "failed", "cover95", "first error"});
    for (size_t c = 0; c < distinct; ++c) {
      std::vector<double> coverage;
      int failed = 0;
      std::string first_error;
      for (size_t i = c; i < results.size(); i += distinct) {
        if (!results[i].error.empty() && failed++ == 0) first_error = results[i].error;
        if (std::isfinite(results[i].coverage)) coverage.push_back(results[i].coverage);
      }
      const double mean = coverage.empty() ? NAN : Mean(coverage);
      if (!coverage.empty()) all_coverage.push_back(mean);
      table.Add({cases[c].problem, absl::StrCat(seeds_), absl::StrCat(failed), Fixed(mean, 3), first_error});
      outcome->json["cases"].push_back({{"case", cases[c].problem},
                                        {"runs", seeds_},
                                        {"failed", failed},
                                        {"coverage95", coverage.empty() ? nlohmann::json() : nlohmann::json(mean)},
                                        {"first_error", first_error}});
      *failures += failed;
    }
    table.Print();
    *runs += static_cast<int>(results.size());
    const double coverage = Mean(all_coverage);
    outcome->json["coverage95"] = coverage;
    if (coverage < kLowestStressCoverage || coverage > kHighestStressCoverage) {
      outcome->missed.push_back(absl::StrFormat("mean coverage95 of the stress cases %.3f, must be from %g to %g",
                                                coverage, kLowestStressCoverage, kHighestStressCoverage));
    }
  }

  absl::Status RunComparison(int* runs, int* failures, Outcome* outcome) const {
    std::vector<int64_t> seeds(compare_seeds_);
    std::iota(seeds.begin(), seeds.end(), first_compare_seed_);
    FIDELIO_ASSIGN_OR_RETURN(const std::vector<Case> cases, GenerateCases(BadlyLinkedProblems(), seeds));
    const std::vector<Result> results = EvaluateAll(cases, {"mf_dgp", "gp"}, /*fit_seed=*/0, /*threads=*/1, jobs_);
    Table table({"bad low fidelity", "runs", "rmse", "rmse of gp", "ratio", "cover95", "cover95 of gp", "failed"});
    for (const std::string& problem : BadlyLinkedProblems()) {
      const Summary ours = Summarise(results, problem, "mf_dgp");
      const Summary gp = Summarise(results, problem, "gp");
      const double ratio = ours.mean.rmse / gp.mean.rmse;
      table.Add({problem, absl::StrCat(ours.runs), Short(ours.mean.rmse), Short(gp.mean.rmse), Fixed(ratio, 3),
                 Fixed(ours.mean.coverage95, 3), Fixed(gp.mean.coverage95, 3),
                 absl::StrCat(ours.failures + gp.failures)});
      outcome->json["bad_low_fidelity"].push_back({{"problem", problem},
                                                   {"rmse", ours.mean.rmse},
                                                   {"rmse_gp", gp.mean.rmse},
                                                   {"coverage95", ours.mean.coverage95},
                                                   {"coverage95_gp", gp.mean.coverage95}});
      if (!(ratio <= kWorstRatio)) {
        outcome->missed.push_back(
            absl::StrFormat("%s: mean rmse %.3f of that of gp, bar %g", problem, ratio, kWorstRatio));
      }
      *failures += ours.failures + gp.failures;
    }
    table.Print();
    *runs += static_cast<int>(results.size());
    return absl::OkStatus();
  }

  void RunOneSided(Method fit, int* runs, int* failures, Outcome* outcome) const {
    std::vector<double> ratios;
    for (int64_t seed = first_seed_; seed < first_seed_ + seeds_; ++seed) {
      const absl::StatusOr<double> ratio = WideningRatio(seed, fit);
      ++*runs;
      if (ratio.ok() && std::isfinite(*ratio)) {
        ratios.push_back(*ratio);
      } else {
        ++*failures;
      }
    }
    Table table({"one-sided data", "runs", "least widening", "mean widening"});
    const double least = Percentile(ratios, 0);
    table.Add({"one_sided", absl::StrCat(seeds_), Short(least), Short(Mean(ratios))});
    table.Print();
    outcome->json["one_sided_widening"] = ratios;
    if (!(least > kWidening)) {
      outcome->missed.push_back(
          absl::StrFormat("one-sided data: intervals widen by %.3g, must be above %g", least, kWidening));
    }
  }

  int seeds_ = 3;
  int64_t first_seed_ = 1;
  int compare_seeds_ = 20;
  int64_t first_compare_seed_ = 2000;
  int jobs_ = 1;
};

}  // namespace

std::unique_ptr<Command> MakeStressCommand() { return std::make_unique<StressCommand>(); }

}  // namespace fidelio::bench
