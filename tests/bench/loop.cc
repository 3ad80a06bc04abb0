// fidelio-bench loop: design loops, and what each way of choosing runs needs to spend for the accuracy that chance gives.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/dgp/moments/mf_dgp.h"
#include "tests/bench/commands.h"
#include "tests/bench/csv.h"
#include "tests/bench/line_chart.h"
#include "tests/bench/loop_strategy.h"
#include "tests/bench/now.h"
#include "tests/bench/table.h"
#include "tests/support/problems/design.h"

namespace fidelio::bench {
namespace {

using Eigen::Index;

constexpr int kLoopTestPoints = 1000;
// Of what the calls do by default. The paper's kernel leans to large outputs, and is here for comparison.
const std::map<std::string, double> kLoopBars = {{"suggest", 0.50}, {"dpp", 0.75}};

// After each round, the first entry before any: what was spent in runs of the highest fidelity, and how good the model is.
struct LoopResult {
  uint64_t seed = 0;
  std::vector<double> cost, rmse;
  double choosing_seconds = 0;
  std::vector<int> runs;  // per level
};

// By problem and strategy: a loop per seed.
using Loops = std::map<std::string, std::map<std::string, std::vector<LoopResult>>>;

void Observe(const Problem& problem, const Run& run, Dataset& data) {
  LevelData& level = data.levels[run.level];
  const Index n = level.y.size();
  level.x.conservativeResize(n + 1, problem.dimension());
  level.y.conservativeResize(n + 1);
  level.x.row(n) = run.x;
  level.y[n] = problem.function(run.level, run.x.transpose());
}

// What all strategies of a problem and seed begin with.
struct LoopStart {
  Dataset data;
  LevelData test;
  std::unique_ptr<MixtureEmulator> model;
};

absl::StatusOr<LoopStart> StartLoop(const Problem& problem, uint64_t seed) {
  // Half of the usual data to begin with.
  std::vector<int> sizes;
  for (const int size : problem.sizes) sizes.push_back(std::max(size / 2, 3));
  LoopStart start;
  FIDELIO_ASSIGN_OR_RETURN(start.data, MakeDataset(problem, sizes, seed));
  start.data.box = InputBox{problem.lower, problem.upper};
  FIDELIO_ASSIGN_OR_RETURN(start.test, MakeTestSet(problem, kLoopTestPoints, seed));
  FIDELIO_ASSIGN_OR_RETURN(start.model, FitMfDgp(start.data, {.seed = seed}));
  return start;
}

absl::StatusOr<LoopResult> RunLoop(const Problem& problem, const LoopStart& start, const std::string& strategy,
                                   int rounds, int points, uint64_t seed) {
  LoopResult result;
  result.seed = seed;
  result.runs.assign(problem.levels(), 0);
  double spent = 0;
  Dataset data = start.data;
  std::unique_ptr<MixtureEmulator> own;
  const MixtureEmulator* model = start.model.get();
  for (int round = 0;; ++round) {
    FIDELIO_ASSIGN_OR_RETURN(const Prediction prediction, model->Predict(start.test.x, {}));
    result.cost.push_back(spent);
    result.rmse.push_back(std::sqrt((prediction.mean - start.test.y).squaredNorm() / kLoopTestPoints));
    if (round == rounds) return result;
    const double begin = Now();
    FIDELIO_ASSIGN_OR_RETURN(
        const std::vector<Run> runs,
        ChooseRuns(strategy, {.problem = problem, .model = *model, .number = round, .points = points, .seed = seed}));
    result.choosing_seconds += Now() - begin;
    for (const Run& run : runs) {
      Observe(problem, run, data);
      spent += problem.costs[run.level] / problem.costs.back();
      ++result.runs[run.level];
    }
    FIDELIO_ASSIGN_OR_RETURN(own, FitMfDgp(data, {.seed = seed, .warm_start = model}));
    model = own.get();
  }
}

// The geometric mean over seeds, round by round.
LoopResult MeanOf(const std::vector<LoopResult>& loops) {
  LoopResult mean = loops[0];
  const double n = static_cast<double>(loops.size());
  for (size_t i = 0; i < mean.rmse.size(); ++i) {
    double cost = 0, log_rmse = 0;
    for (const LoopResult& loop : loops) {
      cost += loop.cost[i] / n;
      log_rmse += std::log(loop.rmse[i]) / n;
    }
    mean.cost[i] = cost;
    mean.rmse[i] = std::exp(log_rmse);
  }
  mean.choosing_seconds = 0;
  std::fill(mean.runs.begin(), mean.runs.end(), 0);
  for (const LoopResult& loop : loops) {
    mean.choosing_seconds += loop.choosing_seconds / (n * static_cast<double>(mean.rmse.size() - 1));
    for (size_t t = 0; t < mean.runs.size(); ++t) mean.runs[t] += loop.runs[t];
  }
  return mean;
}

// The cost at which a curve first comes down to `rmse`, between rounds on a straight line in the logarithm; infinite if never.
double CostToReach(const LoopResult& curve, double rmse) {
  for (size_t i = 0; i < curve.rmse.size(); ++i) {
    if (curve.rmse[i] > rmse) continue;
    if (i == 0) return curve.cost[0];
    const double part = std::log(curve.rmse[i - 1] / rmse) / std::log(curve.rmse[i - 1] / curve.rmse[i]);
    return curve.cost[i - 1] + part * (curve.cost[i] - curve.cost[i - 1]);
  }
  return INFINITY;
}

nlohmann::json ToJson(const Loops& loops) {
  nlohmann::json all = nlohmann::json::array();
  for (const auto& [problem, strategies] : loops) {
    for (const auto& [strategy, own] : strategies) {
      for (const LoopResult& loop : own) {
        all.push_back({{"problem", problem},
                       {"strategy", strategy},
                       {"seed", loop.seed},
                       {"cost", loop.cost},
                       {"rmse", loop.rmse},
                       {"choosing_seconds", loop.choosing_seconds},
                       {"runs", loop.runs}});
      }
    }
  }
  return all;
}

// Adds the loops of an earlier run.
absl::Status ReadLoops(const std::string& path, Loops& loops) {
  std::ifstream file(path);
  const nlohmann::json json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("loops")) {
    return absl::InvalidArgumentError(absl::StrCat("--with: ", path, " is not what --json of this bench wrote"));
  }
  for (const nlohmann::json& loop : json["loops"]) {
    std::vector<LoopResult>& own = loops[loop["problem"]][loop["strategy"]];
    const uint64_t seed = loop["seed"];
    const bool known = std::any_of(own.begin(), own.end(), [&](const LoopResult& l) { return l.seed == seed; });
    if (known) {
      return absl::InvalidArgumentError(absl::StrFormat("--with: %s repeats seed %d of %s by %s", path, seed,
                                                        loop["problem"].get<std::string>(),
                                                        loop["strategy"].get<std::string>()));
    }
    own.push_back({.seed = seed,
                   .cost = loop["cost"],
                   .rmse = loop["rmse"],
                   .choosing_seconds = loop["choosing_seconds"],
                   .runs = loop["runs"]});
  }
  return absl::OkStatus();
}

// Every strategy has the seeds of random, which it is measured by.
absl::Status CheckSeeds(const Loops& loops) {
  for (const auto& [problem, strategies] : loops) {
    const auto random = strategies.find("random");
    if (random == strategies.end()) {
      return absl::InvalidArgumentError(absl::StrCat("--strategies: ", problem, " lacks random"));
    }
    const auto seeds = [](const std::vector<LoopResult>& own) {
      std::set<uint64_t> all;
      for (const LoopResult& loop : own) all.insert(loop.seed);
      return all;
    };
    for (const auto& [strategy, own] : strategies) {
      if (seeds(own) == seeds(random->second)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("--with: ", problem, " has other seeds by ", strategy, " than by random"));
    }
  }
  return absl::OkStatus();
}

class LoopCommand : public Command {
 public:
  std::string name() const override { return "loop"; }
  std::string about() const override { return "Design loops: the cost to reach the accuracy that random designs give"; }

  void AddOptions(CLI::App& app) override {
    app.add_option("--problems", problems_, "which problems; \"none\": those of --with alone")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option("--strategies", strategies_, "which strategies")->delimiter(',')->capture_default_str();
    app.add_option("--seeds", seeds_, "loops per problem and strategy")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--first-seed", first_seed_, "seed of the first loop")->capture_default_str();
    app.add_option("--rounds", rounds_, "rounds per loop")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--points", points_, "runs of the highest fidelity that a round may cost")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--with", with_, "what --json of earlier runs wrote: their loops count, too")->delimiter(',');
    app.add_option("--svg", svg_, "draw the curves into this file");
  }

  absl::StatusOr<Outcome> Run() override {
    if (!svg_.empty()) FIDELIO_RETURN_IF_ERROR(CheckWritable(svg_));
    Loops loops;
    if (problems_ == std::vector<std::string>{"none"}) problems_.clear();
    for (const std::string& file : with_) FIDELIO_RETURN_IF_ERROR(ReadLoops(file, loops));
    for (const std::string& name : problems_) {
      FIDELIO_ASSIGN_OR_RETURN(const Problem* problem, FindProblem(name));
      FIDELIO_RETURN_IF_ERROR(RunProblem(*problem, loops[name]));
    }
    Outcome outcome;
    outcome.json = {{"rounds", rounds_}, {"points", points_}, {"loops", ToJson(loops)}};
    outcome.json["curves"] = nlohmann::json::array();
    if (with_.empty() && std::find(strategies_.begin(), strategies_.end(), "random") == strategies_.end()) {
      outcome.summary = "loops without random, for --with";
      return outcome;
    }
    FIDELIO_RETURN_IF_ERROR(CheckSeeds(loops));
    std::vector<LineChart> charts;
    std::map<std::string, std::vector<double>> shares;  // per strategy, one per problem
    for (const auto& [problem, strategies] : loops) charts.push_back(Report(problem, strategies, shares, outcome));
    if (!svg_.empty()) FIDELIO_RETURN_IF_ERROR(WriteFile(svg_, DrawCharts(charts)));
    outcome.summary = "mean cost to random's final rmse:";
    for (const std::string& strategy : InOrder(shares)) {
      if (strategy == "random") continue;
      double mean = 0;
      for (const double share : shares[strategy]) mean += share / static_cast<double>(shares[strategy].size());
      absl::StrAppendFormat(&outcome.summary, " %s %.0f %%,", strategy, 100 * mean);
      outcome.json["mean_share"][strategy] = std::isfinite(mean) ? nlohmann::json(mean) : nlohmann::json();
      const auto bar = kLoopBars.find(strategy);
      if (bar != kLoopBars.end() && !(mean <= bar->second)) {
        outcome.missed.push_back(absl::StrFormat("%s: %.0f %% of random's cost on average, bar %.0f %%", strategy,
                                                 100 * mean, 100 * bar->second));
      }
    }
    absl::StrAppendFormat(&outcome.summary, " %d bars missed", outcome.missed.size());
    return outcome;
  }

 private:
  // Loops run side by side, each on one thread: they are the same whatever the threads.
  absl::Status RunProblem(const Problem& problem, std::map<std::string, std::vector<LoopResult>>& into) const {
    std::vector<absl::StatusOr<LoopStart>> starts(seeds_);
    ParallelFor(seeds_, 0, [&](int s) { starts[s] = StartLoop(problem, static_cast<uint64_t>(first_seed_ + s)); });
    const int loops = static_cast<int>(strategies_.size()) * seeds_;
    std::vector<absl::StatusOr<LoopResult>> results(loops);
    ParallelFor(loops, 0, [&](int i) {
      const absl::StatusOr<LoopStart>& start = starts[i % seeds_];
      if (!start.ok()) {
        results[i] = start.status();
        return;
      }
      results[i] = RunLoop(problem, *start, strategies_[i / seeds_], rounds_, points_,
                           static_cast<uint64_t>(first_seed_ + i % seeds_));
    });
    for (int i = 0; i < loops; ++i) {
      FIDELIO_ASSIGN_OR_RETURN(LoopResult loop, std::move(results[i]));
      into[strategies_[i / seeds_]].push_back(std::move(loop));
    }
    return absl::OkStatus();
  }

  // Strategies in the order of LoopStrategies, then others.
  template <typename ByStrategy>
  static std::vector<std::string> InOrder(const ByStrategy& by_strategy) {
    std::vector<std::string> order;
    for (const std::string& strategy : LoopStrategies()) {
      if (by_strategy.count(strategy) > 0) order.push_back(strategy);
    }
    for (const auto& [strategy, unused] : by_strategy) {
      if (std::find(order.begin(), order.end(), strategy) == order.end()) order.push_back(strategy);
    }
    return order;
  }

  LineChart Report(const std::string& problem, const std::map<std::string, std::vector<LoopResult>>& loops,
                   std::map<std::string, std::vector<double>>& shares, Outcome& outcome) const {
    const LoopResult random = MeanOf(loops.at("random"));
    LineChart chart{.title = problem,
                    .x_label = "cost in runs of the highest fidelity",
                    .y_label = "rmse",
                    .curves = {},
                    .goal = random.rmse.back(),
                    .goal_label = "random, in the end"};
    Table table({problem, "seeds", "rmse before", "rmse after", "cost share", "s to choose", "runs per level"});
    for (const std::string& strategy : InOrder(loops)) {
      const LoopResult curve = MeanOf(loops.at(strategy));
      const double share = CostToReach(curve, random.rmse.back()) / random.cost.back();
      shares[strategy].push_back(share);
      std::string runs;
      for (const int n : curve.runs) absl::StrAppendFormat(&runs, "%s%d", runs.empty() ? "" : "+", n);
      table.Add({strategy, absl::StrCat(loops.at(strategy).size()), Short(curve.rmse.front()), Short(curve.rmse.back()),
                 Fixed(share, 2), Short(curve.choosing_seconds), runs});
      chart.curves.push_back({.name = strategy, .x = curve.cost, .y = curve.rmse});
      outcome.json["curves"].push_back({{"problem", problem},
                                        {"strategy", strategy},
                                        {"cost", curve.cost},
                                        {"rmse", curve.rmse},
                                        {"choosing_seconds", curve.choosing_seconds},
                                        {"runs", curve.runs},
                                        {"share", std::isfinite(share) ? nlohmann::json(share) : nlohmann::json()}});
    }
    table.Print();
    std::fflush(stdout);
    return chart;
  }

  std::vector<std::string> problems_ = {"branin", "hartmann3", "borehole"};
  std::vector<std::string> strategies_ = LoopStrategies();
  std::vector<std::string> with_;
  int seeds_ = 5;
  int first_seed_ = 1;
  int rounds_ = 5;
  int points_ = 4;
  std::string svg_;
};

}  // namespace

std::unique_ptr<Command> MakeLoopCommand() { return std::make_unique<LoopCommand>(); }

}  // namespace fidelio::bench
