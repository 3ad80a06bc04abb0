// fidelio-bench neighbours: what is lost by looking at the nearest observations only, against all of them, with the same
// hyperparameters.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/base/random.h"
#include "core/base/status_macros.h"
#include "core/neighbour/neighbour_dgp.h"
#include "core/neighbour/neighbour_dgp_fit.h"
#include "tests/bench/commands.h"
#include "tests/bench/map_data.h"
#include "tests/bench/metrics.h"
#include "tests/bench/table.h"
#include "tests/support/problems/design.h"

namespace fidelio::bench {
namespace {

constexpr double kMostLoss = 1.02;  // of the RMSE, for every problem
constexpr int kTest = 150, kHigh = 25;

struct NamedSplit {
  std::string name;
  MapSplit split;
};

// Two levels: the lowest of a problem, with `low` observations, and its highest.
absl::StatusOr<NamedSplit> FromProblem(const std::string& name, int low, uint64_t seed) {
  FIDELIO_ASSIGN_OR_RETURN(const Problem* problem, FindProblem(name));
  std::vector<int> sizes(problem->levels(), 0);
  sizes.front() = low;
  sizes.back() = kHigh;
  FIDELIO_ASSIGN_OR_RETURN(Dataset data, MakeDataset(*problem, sizes, seed));
  FIDELIO_ASSIGN_OR_RETURN(LevelData test, MakeTestSet(*problem, kTest, seed));
  Dataset two;
  two.levels = {data.levels.front(), data.levels.back()};
  two.box = InputBox{problem->lower, problem->upper};
  return NamedSplit{name, {std::move(two), std::move(test)}};
}

class NeighboursCommand : public Command {
 public:
  std::string name() const override { return "neighbours"; }
  std::string about() const override { return "The nearest observations against all of them"; }

  void AddOptions(CLI::App& app) override {
    app.add_option("--problems", problems_, "which problems; map1.5 and map2.5: maps that are made up")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option("--low", low_, "low-fidelity observations, up to 2000")
        ->check(CLI::Range(40, 2000))
        ->capture_default_str();
    app.add_option("--neighbours", neighbours_, "how many")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--seeds", seeds_, "data sets per problem")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--threads", threads_, "0: all cores")->capture_default_str();
  }

  absl::StatusOr<Outcome> Run() override {
    Outcome outcome;
    Table table({"problem", "low", "rmse", "of all", "ratio", "cover95", "of all"});
    double sum = 0, worst = 0;
    int count = 0;
    for (const std::string& name : problems_) {
      double rmse = 0, exact = 0, coverage = 0, exact_coverage = 0;
      for (int s = 1; s <= seeds_; ++s) {
        const auto seed = static_cast<uint64_t>(s);
        NamedSplit problem;
        if (name == "map1.5" || name == "map2.5") {
          const MapData map = MakeMap(low_ + kHigh + kTest, name == "map1.5" ? 1.5 : 2.5, seed);
          FIDELIO_ASSIGN_OR_RETURN(problem.split, SplitMap(map, low_, kHigh, kTest, seed));
        } else {
          FIDELIO_ASSIGN_OR_RETURN(problem, FromProblem(name, low_, seed));
        }
        FitOptions options{.kernel = std::nullopt, .seed = seed, .threads = threads_};
        FIDELIO_ASSIGN_OR_RETURN(const auto fit, NeighbourDgpFit::Create(problem.split.train, options, neighbours_));
        FIDELIO_ASSIGN_OR_RETURN(const auto model, fit->Run(nullptr));
        FIDELIO_ASSIGN_OR_RETURN(const auto all, WithNeighbours(*model, low_, threads_));
        PredictOptions predict{.include_noise = true, .quantiles = {0.025, 0.975}, .threads = threads_};
        FIDELIO_ASSIGN_OR_RETURN(const Prediction near, model->Predict(problem.split.test.x, predict));
        FIDELIO_ASSIGN_OR_RETURN(const Prediction full, all->Predict(problem.split.test.x, predict));
        const Scores a = Score(problem.split.test.y, near), b = Score(problem.split.test.y, full);
        rmse += a.rmse / seeds_;
        exact += b.rmse / seeds_;
        coverage += a.coverage95 / seeds_;
        exact_coverage += b.coverage95 / seeds_;
      }
      const double ratio = rmse / exact;
      if (!(ratio <= kMostLoss)) {
        outcome.missed.push_back(
            absl::StrFormat("%s: rmse %.3f of that of all neighbours, bar %g", name, ratio, kMostLoss));
      }
      sum += ratio;
      worst = std::max(worst, ratio);
      ++count;
      table.Add({name, absl::StrFormat("%d", low_), Short(rmse), Short(exact), Fixed(ratio, 3), Fixed(coverage, 3),
                 Fixed(exact_coverage, 3)});
      outcome.json.push_back(
          {{"problem", name}, {"low", low_}, {"rmse", rmse}, {"rmse_of_all", exact}, {"ratio", ratio}});
    }
    table.Print();
    const double mean = sum / count;
    outcome.summary =
        absl::StrFormat("%d neighbours of %d: rmse %.3f of that of all on average, %.3f at worst, %d bars missed",
                        neighbours_, low_, mean, worst, outcome.missed.size());
    return outcome;
  }

 private:
  std::vector<std::string> problems_ = {"currin", "park", "borehole", "branin", "hartmann3", "map1.5", "map2.5"};
  int low_ = 1000, neighbours_ = 32, seeds_ = 1, threads_ = 0;
};

}  // namespace

std::unique_ptr<Command> MakeNeighboursCommand() { return std::make_unique<NeighboursCommand>(); }

}  // namespace fidelio::bench
