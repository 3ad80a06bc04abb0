// fidelio-bench fit-speed: seconds per fit and per gradient evaluation, how they grow with the data, and how much of the
// machine's matrix rate they reach.
//
// A gradient of a level of n points needs at least a Cholesky factor and an inverse, n³ operations; the share of the
// machine's rate counts these only.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "core/dgp/moments/mf_dgp.h"
#include "tests/bench/commands.h"
#include "tests/bench/machine_rate.h"
#include "tests/bench/table.h"
#include "tests/support/problems/design.h"
#include "tests/support/problems/problem.h"

namespace fidelio::bench {
namespace {

struct Timing {
  std::string name;
  std::vector<int> sizes;
  double fit_seconds = 0;  // of the whole fit, or of the part that the budget allowed
  int64_t evaluations = 0;
  double seconds_per_evaluation = 0;
  bool whole = true;
};

// Bars on one core, in seconds.
struct FitBar {
  const char* problem;
  double fit_seconds;
};
constexpr FitBar kFitBars[] = {{"branin", 1.0}, {"borehole", 0.4}};

constexpr int kRateSize = 1000;  // rows of the matrices whose product and factor give the machine's rate

double Cubes(const std::vector<int>& sizes) {
  double sum = 0;
  for (int n : sizes) sum += static_cast<double>(n) * n * n;
  return sum;
}

// Fits within the budget and divides by the number of evaluations.
absl::StatusOr<Timing> TimeFit(const Problem& problem, const std::vector<int>& sizes, double budget) {
  FIDELIO_ASSIGN_OR_RETURN(const Dataset data, MakeDataset(problem, sizes, /*seed=*/1));
  FitOptions options;
  options.threads = 1;
  options.max_seconds = budget;
  FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<MixtureEmulator> model, FitMfDgp(data, options));
  const FitReport& report = model->report();
  Timing timing;
  timing.name = problem.name;
  timing.sizes = sizes;
  timing.fit_seconds = report.seconds;
  timing.evaluations = report.evaluations;
  timing.seconds_per_evaluation = report.seconds / static_cast<double>(std::max<int64_t>(1, report.evaluations));
  timing.whole = report.seconds < budget;
  return timing;
}

class FitSpeedCommand : public Command {
 public:
  std::string name() const override { return "fit-speed"; }
  std::string about() const override { return "Seconds per fit and per gradient evaluation on one core"; }

  void AddOptions(CLI::App& app) override {
    app.add_option("--sizes", sizes_, "numbers of low-fidelity points; the high fidelity has a tenth")
        ->delimiter(',')
        ->check(CLI::Range(10, 100000))
        ->capture_default_str();
    app.add_option("--budget", budget_, "seconds for each of these; Table 1 is fitted to the end")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--repeats", repeats_, "fits of each problem of Table 1, of which the fastest counts")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
  }

  absl::StatusOr<Outcome> Run() override {
    const MachineRate rate = MeasureMachineRate(kRateSize, 1.0);
    std::printf("machine, one core: product %.1f GFLOP/s, Cholesky %.1f GFLOP/s (n = %d)\n", rate.gemm_gflops,
                rate.cholesky_gflops, kRateSize);
    std::vector<Timing> timings;
    for (const char* problem_name : {"currin_paper", "park", "borehole", "branin", "hartmann3"}) {
      FIDELIO_ASSIGN_OR_RETURN(const Problem* problem, FindProblem(problem_name));
      FIDELIO_ASSIGN_OR_RETURN(Timing best, TimeFit(*problem, problem->sizes, HUGE_VAL));
      for (int i = 1; i < repeats_; ++i) {
        FIDELIO_ASSIGN_OR_RETURN(const Timing again, TimeFit(*problem, problem->sizes, HUGE_VAL));
        if (again.fit_seconds < best.fit_seconds) best = again;
      }
      timings.push_back(best);
    }
    const size_t first_growing = timings.size();
    FIDELIO_ASSIGN_OR_RETURN(const Problem* growing, FindProblem("park2"));
    for (int n : sizes_) {
      FIDELIO_ASSIGN_OR_RETURN(const Timing timing, TimeFit(*growing, {n, std::max(1, n / 10)}, budget_));
      timings.push_back(timing);
    }
    return Report(timings, first_growing, rate);
  }

 private:
  static Outcome Report(const std::vector<Timing>& timings, size_t first_growing, const MachineRate& rate) {
    Outcome outcome;
    nlohmann::json rows = nlohmann::json::array();
    Table table({"problem", "points", "fit s", "evaluations", "us/evaluation", "growth", "of product", "of Cholesky"});
    double steepest = 0;
    for (size_t i = 0; i < timings.size(); ++i) {
      const Timing& t = timings[i];
      const double gflops = 1e-9 * Cubes(t.sizes) / t.seconds_per_evaluation;
      double growth = NAN;
      if (i > first_growing) {
        const Timing& before = timings[i - 1];
        growth = std::log(t.seconds_per_evaluation / before.seconds_per_evaluation) /
                 std::log(static_cast<double>(t.sizes[0]) / before.sizes[0]);
        steepest = std::max(steepest, growth);
      }
      table.Add({t.name, absl::StrJoin(t.sizes, "/"), absl::StrCat(t.whole ? "" : ">", Fixed(t.fit_seconds, 3)),
                 absl::StrCat(t.evaluations), Fixed(1e6 * t.seconds_per_evaluation, 1), Fixed(growth, 2),
                 Fixed(gflops / rate.gemm_gflops, 3), Fixed(gflops / rate.cholesky_gflops, 3)});
      rows.push_back({{"problem", t.name},
                      {"sizes", t.sizes},
                      {"fit_seconds", t.fit_seconds},
                      {"whole_fit", t.whole},
                      {"evaluations", t.evaluations},
                      {"us_per_evaluation", 1e6 * t.seconds_per_evaluation},
                      {"growth_exponent", std::isfinite(growth) ? nlohmann::json(growth) : nlohmann::json()},
                      {"share_of_gemm", gflops / rate.gemm_gflops},
                      {"share_of_cholesky", gflops / rate.cholesky_gflops}});
      for (const FitBar& bar : kFitBars) {
        if (t.name == bar.problem && t.fit_seconds > bar.fit_seconds) {
          outcome.missed.push_back(absl::StrFormat("%s: fit %.3f s, bar %g s", t.name, t.fit_seconds, bar.fit_seconds));
        }
      }
    }
    table.Print();
    outcome.json = {{"gemm_gflops", rate.gemm_gflops}, {"cholesky_gflops", rate.cholesky_gflops}, {"rows", rows}};
    outcome.summary = absl::StrFormat("branin %.3f s, borehole %.3f s, steepest growth %.2f, %d bars missed",
                                      timings[3].fit_seconds, timings[2].fit_seconds, steepest, outcome.missed.size());
    return outcome;
  }

  std::vector<int> sizes_ = {100, 300, 1000, 3000};
  double budget_ = 20;
  int repeats_ = 3;
};

}  // namespace

std::unique_ptr<Command> MakeFitSpeedCommand() { return std::make_unique<FitSpeedCommand>(); }

}  // namespace fidelio::bench
