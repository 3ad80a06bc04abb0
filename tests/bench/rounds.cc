// fidelio-bench rounds: the quick start's design loop (deploy/quickstart.sh) for many seeds of its initial design, and how good
// the predictions are after each round, on average.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "core/base/sobol.h"
#include "core/base/status_macros.h"
#include "core/design/dpp_design.h"
#include "core/design/initial_design.h"
#include "core/dgp/moments/mf_dgp.h"
#include "tests/bench/commands.h"
#include "tests/bench/metrics.h"
#include "tests/bench/table.h"
#include "tests/support/problems/problem.h"

namespace fidelio::bench {
namespace {

using Eigen::Index;

constexpr double kLeastRoundCoverage = 0.92;  // of 95 % intervals, as a mean over the seeds, in every round
constexpr int kGridSide = 21;                 // of the grid that predictions are compared on
constexpr int kRoundCandidates = 1024;        // as SampleDPP has by default

struct RoundScore {
  double rmse = 0, coverage = 0, sd = 0;
};
struct RoundScores {
  std::vector<RoundScore> both, alone;  // one per round, the first before any
};

struct RoundsPlan {
  int low = 20, high = 10, rounds = 3, k = 3;
  InitialMethod method = InitialMethod::kLatinHypercube;
  bool nested = false;
};

LevelData ScoreGrid(const Problem& problem) {
  LevelData grid{.x = Matrix(kGridSide * kGridSide, 2), .y = Vector(kGridSide * kGridSide), .noise_variance = {}};
  for (int i = 0; i < kGridSide * kGridSide; ++i) {
    grid.x.row(i) << static_cast<double>(i / kGridSide) / (kGridSide - 1),
        static_cast<double>(i % kGridSide) / (kGridSide - 1);
    grid.y[i] = problem.function(problem.levels() - 1, grid.x.row(i).transpose());
  }
  return grid;
}

void ObserveRows(const Problem& problem, int level, const Matrix& x, LevelData& data) {
  const Index n = data.y.size();
  data.x.conservativeResize(n + x.rows(), x.cols());
  data.y.conservativeResize(n + x.rows());
  data.x.bottomRows(x.rows()) = x;
  for (Index i = 0; i < x.rows(); ++i) data.y[n + i] = problem.function(level, x.row(i).transpose());
}

absl::StatusOr<RoundScore> ScoreModel(const MixtureEmulator& model, const LevelData& grid) {
  FIDELIO_ASSIGN_OR_RETURN(const Prediction p, model.Predict(grid.x, {.quantiles = {0.025, 0.975}}));
  const Scores scores = Score(grid.y, p);
  return RoundScore{.rmse = scores.rmse, .coverage = scores.coverage95, .sd = p.variance.cwiseSqrt().mean()};
}

absl::StatusOr<RoundScores> RunRounds(const Problem& problem, const RoundsPlan& plan, uint64_t seed) {
  const LevelData grid = ScoreGrid(problem);
  const InputBox box{problem.lower, problem.upper};
  FIDELIO_ASSIGN_OR_RETURN(
      const std::vector<Matrix> start,
      InitialDesign(box,
                    {{.count = plan.low, .existing = Matrix(0, 2)}, {.count = plan.high, .existing = Matrix(0, 2)}},
                    {.method = plan.method, .nested = plan.nested, .seed = seed}));
  Dataset both, alone;
  both.levels.resize(2);
  both.box = alone.box = box;
  for (int level = 0; level < 2; ++level) {
    both.levels[level].x.resize(0, 2);
    ObserveRows(problem, level, start[level], both.levels[level]);
  }
  RoundScores result;
  for (int round = 0;; ++round) {
    FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<MixtureEmulator> model, FitMfDgp(both, {.threads = 1}));
    alone.levels = {both.levels.back()};
    FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<MixtureEmulator> gp, FitMfDgp(alone, {.threads = 1}));
    FIDELIO_ASSIGN_OR_RETURN(result.both.emplace_back(), ScoreModel(*model, grid));
    FIDELIO_ASSIGN_OR_RETURN(result.alone.emplace_back(), ScoreModel(*gp, grid));
    if (round == plan.rounds) return result;
    const auto round_seed = static_cast<uint64_t>(round + 1);
    FIDELIO_ASSIGN_OR_RETURN(const Matrix candidates,
                             ScrambledSobol(kRoundCandidates, problem.lower, problem.upper, round_seed));
    FIDELIO_ASSIGN_OR_RETURN(
        const Design design,
        DesignByDpp(*model, candidates,
                    {.k = plan.k, .method = DppMethod::kMap, .seed = round_seed, .excluded = both.levels.back().x}));
    ObserveRows(problem, 1, design.inputs, both.levels.back());
  }
}

class RoundsCommand : public Command {
 public:
  std::string name() const override { return "rounds"; }
  std::string about() const override { return "The quick start's design loop, as a mean over seeds of its design"; }

  void AddOptions(CLI::App& app) override {
    app.add_option("--seeds", seeds_, "initial designs")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--first-seed", first_seed_, "seed of the first design")->capture_default_str();
    app.add_option("--low", plan_.low, "low-fidelity runs")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--high", plan_.high, "high-fidelity runs to start with")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--rounds", plan_.rounds, "rounds")->check(CLI::NonNegativeNumber)->capture_default_str();
    app.add_option("--k", plan_.k, "high-fidelity runs of a round")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_flag("--sobol", sobol_, "start from Sobol' points instead of Latin hypercubes");
    app.add_flag("--nested", plan_.nested, "start with high-fidelity runs at inputs of low-fidelity ones");
  }

  absl::StatusOr<Outcome> Run() override {
    if (sobol_) plan_.method = InitialMethod::kSobol;
    FIDELIO_ASSIGN_OR_RETURN(const Problem* problem, FindProblem("currin"));
    std::vector<absl::StatusOr<RoundScores>> runs(seeds_);
    ParallelFor(seeds_, 0,
                [&](int s) { runs[s] = RunRounds(*problem, plan_, static_cast<uint64_t>(first_seed_ + s)); });
    Outcome outcome;
    outcome.json = {{"seeds", seeds_}, {"rounds", nlohmann::json::array()}};
    Table table({"high-fidelity runs", "RMSE", "in 95 %", "worst", "mean sd", "RMSE of a GP", "in 95 %", "mean sd"});
    double least = 1;
    for (int round = 0; round <= plan_.rounds; ++round) {
      RoundScore both, alone;
      double worst = 1;
      for (const auto& run : runs) {
        if (!run.ok()) return run.status();
        Add(run->both[round], both);
        Add(run->alone[round], alone);
        worst = std::min(worst, run->both[round].coverage);
      }
      const int high = plan_.high + round * plan_.k;
      table.Add({absl::StrCat(high), Fixed(both.rmse, 3), Percent(both.coverage), Percent(worst), Fixed(both.sd, 3),
                 Fixed(alone.rmse, 3), Percent(alone.coverage), Fixed(alone.sd, 3)});
      outcome.json["rounds"].push_back({{"high", high}, {"both", ToJson(both)}, {"gp", ToJson(alone)}});
      least = std::min(least, both.coverage);
      if (both.coverage < kLeastRoundCoverage) {
        outcome.missed.push_back(absl::StrFormat("%d high-fidelity runs: %.1f %% in the 95 %% intervals, bar %.0f %%",
                                                 high, 100 * both.coverage, 100 * kLeastRoundCoverage));
      }
    }
    table.Print();
    outcome.summary = absl::StrFormat("least mean coverage %.1f %% over %d seeds, %d bars missed", 100 * least, seeds_,
                                      outcome.missed.size());
    return outcome;
  }

 private:
  void Add(const RoundScore& one, RoundScore& mean) const {
    mean.rmse += one.rmse / seeds_;
    mean.coverage += one.coverage / seeds_;
    mean.sd += one.sd / seeds_;
  }
  static std::string Percent(double share) { return absl::StrFormat("%.1f %%", 100 * share); }
  static nlohmann::json ToJson(const RoundScore& score) {
    return {{"rmse", score.rmse}, {"coverage95", score.coverage}, {"mean_sd", score.sd}};
  }

  RoundsPlan plan_;
  int seeds_ = 20;
  int first_seed_ = 1;
  bool sobol_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeRoundsCommand() { return std::make_unique<RoundsCommand>(); }

}  // namespace fidelio::bench
