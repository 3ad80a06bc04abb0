// fidelio-bench synthetic: the four functions of one input of Cutajar et al. (2019), Figure 3, with few high-fidelity
// observations or with observations on one side only, and a function with a step (Raissi and Karniadakis 2016).
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "core/base/status_macros.h"
#include "tests/bench/band_chart.h"
#include "tests/bench/cases.h"
#include "tests/bench/commands.h"
#include "tests/bench/csv.h"
#include "tests/bench/methods.h"
#include "tests/bench/metrics.h"
#include "tests/bench/summary.h"
#include "tests/bench/table.h"
#include "tests/support/problems/problem.h"

namespace fidelio::bench {
namespace {

// The paper does not give the inputs of its Figure 3: these are a few everywhere, or some on one side.
struct Scenario {
  const char* problem;
  int low;                   // observations of the low fidelity, evenly spaced
  std::vector<double> high;  // inputs of those of the high one
};

const std::vector<Scenario>& Scenarios() {
  static const auto* const kScenarios =
      new std::vector<Scenario>{{"linear_a", 12, {0.05, 0.35, 0.6, 0.95}},
                                {"linear_b", 12, {0.02, 0.15, 0.3, 0.45}},
                                {"nonlinear_a", 50, {0.03, 0.07, 0.12, 0.18, 0.24, 0.3, 0.36, 0.43, 0.5, 0.56}},
                                {"nonlinear_b", 25, {0.03, 0.1, 0.17, 0.25, 0.33, 0.42, 0.5, 0.97}}};
  return *kScenarios;
}

constexpr int kPoints = 401;  // of a curve, and of its test set
constexpr int64_t kFirstSeed = 5000;

LevelData Observe(const Problem& problem, int level, const Vector& x) {
  LevelData data{.x = x, .y = Vector(x.size()), .noise_variance = {}};
  for (Eigen::Index i = 0; i < x.size(); ++i) data.y[i] = problem.function(level, x.segment(i, 1));
  return data;
}

struct Panel {
  BandPanel drawing;
  Scores scores;
};

absl::StatusOr<Panel> FitPanel(const Scenario& scenario, const std::string& method, uint64_t seed, int threads) {
  FIDELIO_ASSIGN_OR_RETURN(const Problem* const problem, FindProblem(scenario.problem));
  Dataset data;
  data.levels = {
      Observe(*problem, 0, Vector::LinSpaced(scenario.low, 0, 1)),
      Observe(*problem, 1,
              Eigen::Map<const Vector>(scenario.high.data(), static_cast<Eigen::Index>(scenario.high.size())))};
  FIDELIO_ASSIGN_OR_RETURN(const Method fit, FindMethod(method));
  FIDELIO_ASSIGN_OR_RETURN(const FittedEmulator fitted, fit(data, seed, threads));
  const LevelData truth = Observe(*problem, 1, Vector::LinSpaced(kPoints, 0, 1));
  FIDELIO_ASSIGN_OR_RETURN(const Prediction p,
                           fitted.emulator->Predict(truth.x, {.include_noise = true, .quantiles = {0.025, 0.975}}));
  Panel panel{.drawing = {}, .scores = Score(truth.y, p)};
  panel.drawing = {.note = absl::StrFormat("MNLL %.2f · RMSE %.3f · coverage %.2f", panel.scores.mnll,
                                           panel.scores.rmse, panel.scores.coverage95),
                   .x = truth.x,
                   .truth = truth.y,
                   .mean = p.mean,
                   .lower = p.quantiles.col(0),
                   .upper = p.quantiles.col(1),
                   .low_x = data.levels[0].x,
                   .low_y = data.levels[0].y,
                   .high_x = data.levels[1].x,
                   .high_y = data.levels[1].y};
  return panel;
}

std::string Titled(const std::string& name) { return absl::AsciiStrToUpper(absl::StrReplaceAll(name, {{"_", "-"}})); }

class SyntheticCommand : public Command {
 public:
  std::string name() const override { return "synthetic"; }
  std::string about() const override {
    return "The paper's Figure 3: few or one-sided high-fidelity observations; a step";
  }

  void AddOptions(CLI::App& app) override {
    app.add_option("--methods", methods_, "rows of the figure")->delimiter(',')->capture_default_str();
    app.add_option("--svg", svg_, "directory that the figure is written to, as synthetic.svg");
    app.add_option("--step-seeds", step_seeds_, "data sets of the step")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--threads", threads_, "threads of a fit, 0: all cores")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--fit-seed", fit_seed_, "seed of the fits")->capture_default_str();
  }

  absl::StatusOr<Outcome> Run() override {
    if (!svg_.empty()) FIDELIO_RETURN_IF_ERROR(CheckWritable(absl::StrCat(svg_, "/synthetic.svg")));
    FIDELIO_RETURN_IF_ERROR(CheckMethods(methods_));
    Outcome outcome;
    FIDELIO_RETURN_IF_ERROR(DrawFigure(outcome));
    FIDELIO_RETURN_IF_ERROR(RunStep(outcome));
    outcome.summary =
        absl::StrCat(methods_.size() * Scenarios().size(), " panels, ", outcome.missed.size(), " bars missed");
    return outcome;
  }

 private:
  absl::Status DrawFigure(Outcome& outcome) {
    BandChart chart;
    Table table({"problem", "method", "r2", "rmse", "mnll", "crps", "cover95"});
    for (const Scenario& scenario : Scenarios()) chart.columns.push_back(Titled(scenario.problem));
    for (const std::string& method : methods_) {
      chart.rows.push_back(Titled(method));
      chart.panels.emplace_back();
      std::vector<double> coverage;
      for (const Scenario& scenario : Scenarios()) {
        FIDELIO_ASSIGN_OR_RETURN(Panel panel, FitPanel(scenario, method, fit_seed_, threads_));
        const Scores& s = panel.scores;
        table.Add({scenario.problem, method, Fixed(s.r2, 4), Short(s.rmse), Fixed(s.mnll, 3), Short(s.crps),
                   Fixed(s.coverage95, 3)});
        outcome.json["panels"].push_back({{"problem", scenario.problem},
                                          {"method", method},
                                          {"r2", s.r2},
                                          {"rmse", s.rmse},
                                          {"mnll", s.mnll},
                                          {"crps", s.crps},
                                          {"coverage95", s.coverage95}});
        coverage.push_back(s.coverage95);
        chart.panels.back().push_back(std::move(panel.drawing));
      }
      if (method == "mf_dgp" && Mean(coverage) < kLeastCoverage) {
        outcome.missed.push_back(
            absl::StrFormat("mf_dgp: mean coverage95 %.3f, bar %g", Mean(coverage), kLeastCoverage));
      }
    }
    table.Print();
    if (svg_.empty()) return absl::OkStatus();
    return WriteFile(absl::StrCat(svg_, "/synthetic.svg"), DrawBands(chart));
  }

  // The network of DEEP-MF must be worth its parameters where the function has a step.
  absl::Status RunStep(Outcome& outcome) {
    std::vector<int64_t> seeds;
    for (int64_t i = 0; i < step_seeds_; ++i) seeds.push_back(kFirstSeed + i);
    FIDELIO_ASSIGN_OR_RETURN(const std::vector<Case> cases, GenerateCases({"jump"}, seeds));
    const std::vector<std::string> methods = {"ar1", "deep_mf"};
    const std::vector<Result> results = EvaluateAll(cases, methods, fit_seed_, threads_, 1);
    const Summary plain = Summarise(results, "jump", methods[0]), deep = Summarise(results, "jump", methods[1]);
    Table table({"problem", "method", "runs", "rmse", "mnll", "cover95", "fit s"});
    for (const Summary& s : {plain, deep}) {
      table.Add({"jump", s.method, absl::StrCat(s.runs), Short(s.mean.rmse), Fixed(s.mean.mnll, 3),
                 Fixed(s.mean.coverage95, 3), Fixed(s.fit_seconds, 3)});
      if (s.failures > 0) outcome.missed.push_back(absl::StrCat("jump ", s.method, ": ", s.failures, " runs failed"));
    }
    table.Print();
    outcome.json["step"] = ToJson(results);
    if (!(deep.mean.rmse < plain.mean.rmse && deep.mean.mnll < plain.mean.mnll)) {
      outcome.missed.push_back(
          absl::StrFormat("jump: deep_mf's rmse %.4g and mnll %.4g, ar1's %.4g and %.4g: want less", deep.mean.rmse,
                          deep.mean.mnll, plain.mean.rmse, plain.mean.mnll));
    }
    return absl::OkStatus();
  }

  static constexpr double kLeastCoverage = 0.85;

  std::vector<std::string> methods_ = {"ar1", "nargp", "deep_mf", "mf_dgp"};
  std::string svg_;
  int64_t step_seeds_ = 10;
  int threads_ = 1;
  uint64_t fit_seed_ = 0;
};

}  // namespace

std::unique_ptr<Command> MakeSyntheticCommand() { return std::make_unique<SyntheticCommand>(); }

}  // namespace fidelio::bench
