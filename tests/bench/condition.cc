// fidelio-bench condition: a model given new points without a refit, against the refit.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "core/dgp/moments/mf_dgp.h"
#include "tests/bench/commands.h"
#include "tests/bench/metrics.h"
#include "tests/bench/now.h"
#include "tests/bench/table.h"
#include "tests/support/problems/design.h"

namespace fidelio::bench {
namespace {

using Eigen::Index;

constexpr int kConditionTestPoints = 500;
constexpr double kWorstConditioned = 1.10;  // rmse, to that of the refit
constexpr double kLeastSpeedup = 20;        // of the time
constexpr uint64_t kNewSeed = 100000;       // of the new points, added to that of the data

struct Conditioned {
  double rmse_before = 0, rmse = 0, rmse_refit = 0;
  double coverage = 0, coverage_refit = 0;
  double seconds = 0, seconds_refit = 0;
};

absl::StatusOr<Conditioned> Measure(const Problem& problem, int points, uint64_t seed) {
  FIDELIO_ASSIGN_OR_RETURN(Dataset data, MakeDataset(problem, problem.sizes, seed));
  data.box = InputBox{problem.lower, problem.upper};
  FIDELIO_ASSIGN_OR_RETURN(const LevelData test, MakeTestSet(problem, kConditionTestPoints, seed));
  std::vector<int> sizes(problem.levels(), 0);
  sizes.back() = points;
  FIDELIO_ASSIGN_OR_RETURN(const Dataset news, MakeDataset(problem, sizes, seed + kNewSeed));
  const auto scores = [&](const Emulator& model) -> absl::StatusOr<Scores> {
    PredictOptions options;
    options.include_noise = true;
    options.quantiles = {0.025, 0.975};
    FIDELIO_ASSIGN_OR_RETURN(const Prediction prediction, model.Predict(test.x, options));
    return Score(test.y, prediction);
  };
  FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<MixtureEmulator> before, FitMfDgp(data, {.seed = seed, .threads = 1}));
  LevelData& top = data.levels.back();
  const Index n = top.y.size();
  top.x.conservativeResize(n + points, Eigen::NoChange);
  top.y.conservativeResize(n + points);
  top.x.bottomRows(points) = news.levels.back().x;
  top.y.tail(points) = news.levels.back().y;

  Conditioned m;
  double begin = Now();
  FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<Emulator> conditioned, before->Condition(data, /*threads=*/1));
  m.seconds = Now() - begin;
  begin = Now();
  FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<MixtureEmulator> refit, FitMfDgp(data, {.seed = seed, .threads = 1}));
  m.seconds_refit = Now() - begin;
  FIDELIO_ASSIGN_OR_RETURN(const Scores first, scores(*before));
  FIDELIO_ASSIGN_OR_RETURN(const Scores second, scores(*conditioned));
  FIDELIO_ASSIGN_OR_RETURN(const Scores third, scores(*refit));
  m.rmse_before = first.rmse;
  m.rmse = second.rmse;
  m.coverage = second.coverage95;
  m.rmse_refit = third.rmse;
  m.coverage_refit = third.coverage95;
  return m;
}

class ConditionCommand : public Command {
 public:
  std::string name() const override { return "condition"; }
  std::string about() const override { return "New points without a refit, against the refit"; }

  void AddOptions(CLI::App& app) override {
    app.add_option("--problems", problems_, "which problems")->delimiter(',')->capture_default_str();
    app.add_option("--points", points_, "new points of the highest fidelity")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--seeds", seeds_, "data sets per problem")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--first-seed", first_seed_, "seed of the first data set")->capture_default_str();
  }

  absl::StatusOr<Outcome> Run() override {
    Outcome outcome;
    outcome.json = nlohmann::json::array();
    Table table(
        {"problem", "rmse before", "conditioned", "refit", "ratio", "cover95", "of refit", "ms", "s refit", "speedup"});
    double worst = 0, least = INFINITY;
    for (const std::string& name : problems_) {
      FIDELIO_ASSIGN_OR_RETURN(const Problem* problem, FindProblem(name));
      Conditioned sum;
      for (int s = 0; s < seeds_; ++s) {
        FIDELIO_ASSIGN_OR_RETURN(const Conditioned m,
                                 Measure(*problem, points_, static_cast<uint64_t>(first_seed_ + s)));
        for (auto [to, from] : {std::pair(&sum.rmse_before, m.rmse_before), std::pair(&sum.rmse, m.rmse),
                                std::pair(&sum.rmse_refit, m.rmse_refit), std::pair(&sum.coverage, m.coverage),
                                std::pair(&sum.coverage_refit, m.coverage_refit), std::pair(&sum.seconds, m.seconds),
                                std::pair(&sum.seconds_refit, m.seconds_refit)}) {
          *to += from / seeds_;
        }
      }
      const double ratio = sum.rmse / sum.rmse_refit, speedup = sum.seconds_refit / sum.seconds;
      worst = std::max(worst, ratio);
      least = std::min(least, speedup);
      table.Add({name, Short(sum.rmse_before), Short(sum.rmse), Short(sum.rmse_refit), Fixed(ratio, 3),
                 Fixed(sum.coverage, 3), Fixed(sum.coverage_refit, 3), Fixed(1e3 * sum.seconds, 1),
                 Fixed(sum.seconds_refit, 2), Fixed(speedup, 0)});
      outcome.json.push_back({{"problem", name},
                              {"rmse_before", sum.rmse_before},
                              {"rmse", sum.rmse},
                              {"rmse_refit", sum.rmse_refit},
                              {"coverage95", sum.coverage},
                              {"coverage95_refit", sum.coverage_refit},
                              {"seconds", sum.seconds},
                              {"seconds_refit", sum.seconds_refit}});
      if (!(ratio <= kWorstConditioned)) {
        outcome.missed.push_back(
            absl::StrFormat("%s: rmse %.3f of that of a refit, bar %g", name, ratio, kWorstConditioned));
      }
      if (!(speedup >= kLeastSpeedup)) {
        outcome.missed.push_back(
            absl::StrFormat("%s: %.1f times as fast as a refit, bar %g", name, speedup, kLeastSpeedup));
      }
    }
    table.Print();
    outcome.summary = absl::StrFormat("rmse at most %.3f of a refit's, at least %.0f times as fast, %d bars missed",
                                      worst, least, outcome.missed.size());
    return outcome;
  }

 private:
  std::vector<std::string> problems_ = {"hartmann3"};
  int points_ = 10;
  int seeds_ = 10;
  int first_seed_ = 1;
};

}  // namespace

std::unique_ptr<Command> MakeConditionCommand() { return std::make_unique<ConditionCommand>(); }

}  // namespace fidelio::bench
