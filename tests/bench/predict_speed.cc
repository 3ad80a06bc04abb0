// fidelio-bench predict-speed: time of a prediction with all draws, mean and variance, one thread, Branin's data.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "tests/bench/commands.h"
#include "tests/bench/methods.h"
#include "tests/bench/table.h"
#include "tests/support/problems/design.h"
#include "tests/support/problems/problem.h"

namespace fidelio::bench {
namespace {

// Bars, in microseconds for the whole call.
struct SpeedBar {
  int points;
  double microseconds;
};
constexpr SpeedBar kSpeedBars[] = {{1, 200}, {1000, 80000}};

// The median duration of a call, over at least three calls and about a third of a second.
absl::StatusOr<double> MedianPredictSeconds(const Emulator& emulator, const Matrix& x, const PredictOptions& options) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> durations;
  double spent = 0;
  while (durations.size() < 3 || (spent < 0.3 && durations.size() < 10000)) {
    const Clock::time_point start = Clock::now();
    const absl::StatusOr<Prediction> prediction = emulator.Predict(x, options);
    if (!prediction.ok()) return prediction.status();
    durations.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    spent += durations.back();
  }
  std::nth_element(durations.begin(), durations.begin() + durations.size() / 2, durations.end());
  return durations[durations.size() / 2];
}

class PredictSpeedCommand : public Command {
 public:
  std::string name() const override { return "predict-speed"; }
  std::string about() const override { return "Microseconds per predicted point on one core"; }

  void AddOptions(CLI::App& app) override {
    app.add_option("--problem", problem_, "whose data is fitted")->capture_default_str();
    app.add_option("--points", points_, "numbers of points per call")
        ->delimiter(',')
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
  }

  absl::StatusOr<Outcome> Run() override {
    FIDELIO_ASSIGN_OR_RETURN(const Problem* problem, FindProblem(problem_));
    FIDELIO_ASSIGN_OR_RETURN(const Dataset data, MakeDataset(*problem, problem->sizes, /*seed=*/1));
    FIDELIO_ASSIGN_OR_RETURN(const Method method, FindMethod("mf_dgp"));
    FIDELIO_ASSIGN_OR_RETURN(const FittedEmulator fitted, method(data, /*seed=*/0, /*threads=*/0));
    Outcome outcome;
    outcome.json = nlohmann::json::array();
    Table table({"points", "what", "us/call", "us/point"});
    for (int n : points_) {
      const Matrix x = LatinHypercube(n, problem->lower, problem->upper, CellPosition::kUniform, /*seed=*/2);
      for (const bool quantiles : {false, true}) {
        PredictOptions options;
        if (quantiles) options.quantiles = {0.025, 0.5, 0.975};
        FIDELIO_ASSIGN_OR_RETURN(const double seconds, MedianPredictSeconds(*fitted.emulator, x, options));
        const double us = 1e6 * seconds;
        const char* what = quantiles ? "moments, 3 quantiles" : "moments";
        table.Add({absl::StrCat(n), what, Fixed(us, 1), Fixed(us / n, 2)});
        outcome.json.push_back(
            {{"points", n}, {"quantiles", quantiles ? 3 : 0}, {"us_per_call", us}, {"us_per_point", us / n}});
        if (quantiles) continue;
        absl::StrAppendFormat(&outcome.summary, "%d points %.2f us each, ", n, us / n);
        for (const SpeedBar& bar : kSpeedBars) {
          if (n == bar.points && us > bar.microseconds) {
            outcome.missed.push_back(absl::StrFormat("%d points: %.0f us, bar %g us", n, us, bar.microseconds));
          }
        }
      }
    }
    table.Print();
    absl::StrAppend(&outcome.summary, outcome.missed.size(), " bars missed");
    return outcome;
  }

 private:
  std::string problem_ = "branin";
  std::vector<int> points_ = {1, 100, 1000, 10000};
};

}  // namespace

std::unique_ptr<Command> MakePredictSpeedCommand() { return std::make_unique<PredictSpeedCommand>(); }

}  // namespace fidelio::bench
