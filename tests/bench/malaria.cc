// fidelio-bench malaria: the paper's large experiment. Infection rates of one year on a map, of very many pixels, and those of a
// later year at a thousand: how well are the other pixels of the later year predicted?
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/status_macros.h"
#include "core/design/dpp_design.h"
#include "core/dgp/moments/mf_dgp.h"
#include "core/emulator/output_transform.h"
#include "core/emulator/transformed_emulator.h"
#include "core/registry/emulator_registry.h"
#include "tests/bench/commands.h"
#include "tests/bench/csv.h"
#include "tests/bench/map_data.h"
#include "tests/bench/map_drawing.h"
#include "tests/bench/metrics.h"
#include "tests/bench/now.h"
#include "tests/bench/peak_memory.h"
#include "tests/bench/table.h"

namespace fidelio::bench {
namespace {

using Eigen::Index;

// Bars: of the mean over the seeds, on two cores.
constexpr double kMostRmse = 0.044, kMostOfGp = 0.80, kLeastCoverage = 0.92, kMostCoverage = 0.98;
constexpr double kMostFitSeconds = 60, kMostPredictSeconds = 1, kMostMib = 2048;

// Rates nearer to 0 and 1 count as this far from them: the scale of the logits is not that of a few pixels without cases.
constexpr double kBorder = 1e-3;

constexpr int kCandidates = 2500, kDesign = 50;  // of the k-DPP, as in the paper
constexpr uint32_t kCandidateStream = 5;

std::optional<KernelFamily> Family(const std::string& word) {
  if (word == "rbf") return KernelFamily::kRbf;
  if (word == "matern12") return KernelFamily::kMatern12;
  if (word == "matern32") return KernelFamily::kMatern32;
  if (word == "matern52") return KernelFamily::kMatern52;
  return std::nullopt;
}

void MoveInside(Dataset& data) {
  for (LevelData& level : data.levels) level.y = level.y.cwiseMax(kBorder).cwiseMin(1 - kBorder);
}

struct Fitted {
  std::unique_ptr<Emulator> emulator;
  FitReport report;
};

absl::StatusOr<Fitted> Fit(Dataset data, const std::string& method, const FitOptions& options) {
  MoveInside(data);
  OutputTransform logit;
  logit.kind = OutputTransform::Kind::kLogit;
  FIDELIO_ASSIGN_OR_RETURN(TransformedData transformed, TransformOutputs(data, logit));
  FIDELIO_ASSIGN_OR_RETURN(const EmulatorMethod* found, FindEmulatorMethod(method));
  FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<EmulatorFit> fit, found->create(transformed.data, options));
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<MixtureEmulator> model, fit->Run(nullptr));
  const FitReport report = model->report();
  return Fitted{std::make_unique<TransformedEmulator>(transformed.transform, std::move(model)), report};
}

absl::StatusOr<Prediction> PredictRates(const Emulator& emulator, const Matrix& x, int threads) {
  PredictOptions options;
  options.include_noise = true;
  options.quantiles = {0.025, 0.975};
  options.threads = threads;
  return emulator.Predict(x, options);
}

// The least error that a Gaussian process of the high rates alone makes, whatever its kernel.
absl::StatusOr<double> BestGpRmse(const MapSplit& split, uint64_t seed, int threads) {
  Dataset top;
  top.levels = {split.train.levels.back()};
  double best = INFINITY;
  for (const KernelFamily kernel : kAllKernelFamilies) {
    FitOptions options{.kernel = kernel, .seed = seed, .threads = threads};
    FIDELIO_ASSIGN_OR_RETURN(const Fitted gp, Fit(top, "mf_dgp", options));
    FIDELIO_ASSIGN_OR_RETURN(const Prediction prediction, PredictRates(*gp.emulator, split.test.x, threads));
    best = std::min(best, Score(split.test.y, prediction).rmse);
  }
  return best;
}

struct Measured {
  double rmse = 0, gp_rmse = NAN, coverage95 = 0, fit_seconds = 0, predict_seconds = 0, peak_rss_mib = 0;
  double evaluations = 0;
};

nlohmann::json ToJson(const Measured& m, int threads) {
  return {{"rmse", m.rmse},
          {"gp_rmse", std::isnan(m.gp_rmse) ? nlohmann::json() : nlohmann::json(m.gp_rmse)},
          {"coverage95", m.coverage95},
          {"fit_seconds", m.fit_seconds},
          {"predict_seconds", m.predict_seconds},
          {"peak_rss_mib", m.peak_rss_mib},
          {"evaluations", m.evaluations},
          {"threads", threads}};
}

// Truth, prediction, standard deviation, and a design of the next observations, as in the paper's figure 4.
absl::Status DrawFigure(const MapData& map, const Emulator& emulator, uint64_t seed, int threads,
                        const std::string& directory) {
  const std::vector<int> rows = OneRowPerCell(map.x);
  const Matrix x = map.x(rows, Eigen::all);
  PredictOptions options;
  options.threads = threads;
  FIDELIO_ASSIGN_OR_RETURN(const Prediction prediction, emulator.Predict(x, options));
  Random random(seed, kCandidateStream);
  std::vector<int> candidates(kCandidates);
  for (int& i : candidates) i = static_cast<int>(random.NextBits() % static_cast<uint64_t>(map.x.rows()));
  DppDesignOptions design_options;
  design_options.k = kDesign;
  design_options.seed = seed;
  design_options.threads = threads;
  const double begin = Now();
  FIDELIO_ASSIGN_OR_RETURN(const Design design, DesignByDpp(emulator, map.x(candidates, Eigen::all), design_options));
  std::printf("design of %d from %d candidates: %.1f s\n", kDesign, kCandidates, Now() - begin);
  const Vector truth = map.high(rows), sd = prediction.variance.cwiseSqrt();
  const double high = std::max(truth.maxCoeff(), prediction.mean.maxCoeff());
  const std::string svg = DrawMaps(x, {{"truth", truth, 0, high, {}},
                                       {"prediction", prediction.mean, 0, high, {}},
                                       {"standard deviation", sd, 0, sd.maxCoeff(), {}},
                                       {"k-DPP design", prediction.mean, 0, high, design.inputs}});
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  return WriteFile(directory + "/malaria.svg", svg);
}

class MalariaCommand : public Command {
 public:
  std::string name() const override { return "malaria"; }
  std::string about() const override { return "A map of 800,000 low-fidelity pixels and 1,000 high-fidelity ones"; }

  void AddOptions(CLI::App& app) override {
    app.add_option("--data", data_, "CSV file, perhaps .gz: longitude, latitude, low, high")->required();
    app.add_option("--train-low", train_low_, "rows of low to learn from")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--train-high", train_high_, "rows of high to learn from")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--test", test_, "other rows of high to predict")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--seed", seeds_, "draws the rows; several: bars are for the means")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option("--svg", svg_, "write a drawing, malaria.svg, to this directory (of the first seed)");
    app.add_option("--inference", inference_, "how the model is fitted")
        ->check(CLI::IsMember({"neighbours", "svi"}))
        ->capture_default_str();
    app.add_option("--kernel", kernel_, "of the fit with neighbours")
        ->check(CLI::IsMember({"evidence", "rbf", "matern12", "matern32", "matern52"}))
        ->capture_default_str();
    app.add_option("--budget-seconds", budget_, "ends the fit")->check(CLI::PositiveNumber);
    app.add_option("--threads", threads_, "0: all cores")->capture_default_str();
    app.add_flag("--swap", swap_, "low and high change places");
    app.add_flag("--no-gp", no_gp_, "without the GP of high alone");
  }

  absl::StatusOr<Outcome> Run() override {
    if (!svg_.empty()) FIDELIO_RETURN_IF_ERROR(CheckWritable(svg_ + "/malaria.svg"));
    FIDELIO_ASSIGN_OR_RETURN(MapData map, ReadMap(data_));
    if (swap_) std::swap(map.low, map.high);
    Outcome outcome;
    Table table({"seed", "rmse", "gp rmse", "ratio", "cover95", "fit s", "evaluations", "predict s", "peak MiB"});
    const int threads = ResolveThreads(threads_);
    Measured mean{.gp_rmse = 0};
    nlohmann::json runs = nlohmann::json::array();
    for (size_t k = 0; k < seeds_.size(); ++k) {
      FIDELIO_ASSIGN_OR_RETURN(const Measured m, Measure(map, seeds_[k], k == 0));
      const double share = 1.0 / static_cast<double>(seeds_.size());
      for (double Measured::*field : {&Measured::rmse, &Measured::gp_rmse, &Measured::coverage95,
                                      &Measured::fit_seconds, &Measured::predict_seconds, &Measured::evaluations}) {
        mean.*field += share * (m.*field);
      }
      mean.peak_rss_mib = std::max(mean.peak_rss_mib, m.peak_rss_mib);
      runs.push_back(ToJson(m, threads));
      runs.back()["seed"] = seeds_[k];
      table.Add({absl::StrFormat("%d", seeds_[k]), Fixed(m.rmse, 4), Fixed(m.gp_rmse, 4), Fixed(m.rmse / m.gp_rmse, 3),
                 Fixed(m.coverage95, 3), Fixed(m.fit_seconds, 1), Fixed(m.evaluations, 0), Fixed(m.predict_seconds, 2),
                 Fixed(m.peak_rss_mib, 0)});
    }
    table.Print();
    outcome.json = ToJson(mean, threads);
    if (seeds_.size() > 1) outcome.json["runs"] = runs;
    if (inference_ == "svi") {
      outcome.json["seconds_per_step"] = mean.fit_seconds / std::max(1.0, mean.evaluations);
    } else {
      outcome.missed = Missed(mean);  // SVI is what is to be beaten, and has no bars
    }
    outcome.summary = absl::StrFormat(
        "rmse %.4f (GP of high alone %.4f), coverage %.3f, fit %.1f s (%.3f s per evaluation), %d predictions %.2f s, "
        "peak %.0f MiB on %d threads, %d bars missed",
        mean.rmse, mean.gp_rmse, mean.coverage95, mean.fit_seconds, mean.fit_seconds / std::max(1.0, mean.evaluations),
        test_, mean.predict_seconds, mean.peak_rss_mib, threads, outcome.missed.size());
    return outcome;
  }

 private:
  absl::StatusOr<Measured> Measure(const MapData& map, int64_t seed, bool draw) const {
    const auto fit_seed = static_cast<uint64_t>(seed);
    FIDELIO_ASSIGN_OR_RETURN(const MapSplit split, SplitMap(map, train_low_, train_high_, test_, fit_seed));
    Measured m;
    FitOptions options{.kernel = Family(kernel_), .seed = fit_seed, .threads = threads_};
    if (inference_ == "svi") options.kernel = KernelFamily::kRbf;
    if (budget_ > 0) options.max_seconds = budget_;
    double begin = Now();
    FIDELIO_ASSIGN_OR_RETURN(const Fitted fitted, Fit(split.train, "mf_dgp_" + inference_, options));
    m.fit_seconds = Now() - begin;
    m.evaluations = static_cast<double>(fitted.report.evaluations);
    begin = Now();
    FIDELIO_ASSIGN_OR_RETURN(const Prediction prediction, PredictRates(*fitted.emulator, split.test.x, threads_));
    m.predict_seconds = Now() - begin;
    m.peak_rss_mib = PeakMemoryMib();
    const Scores scores = Score(split.test.y, prediction);
    m.rmse = scores.rmse;
    m.coverage95 = scores.coverage95;
    if (!no_gp_) {
      FIDELIO_ASSIGN_OR_RETURN(m.gp_rmse, BestGpRmse(split, fit_seed, threads_));
    }
    if (draw && !svg_.empty()) {
      FIDELIO_RETURN_IF_ERROR(DrawFigure(map, *fitted.emulator, fit_seed, threads_, svg_));
    }
    return m;
  }

  static std::vector<std::string> Missed(const Measured& m) {
    std::vector<std::string> missed;
    const auto bar = [&](bool met, const char* what, double is, double want) {
      if (!met) missed.push_back(absl::StrFormat("%s %.4g, bar %g", what, is, want));
    };
    bar(m.rmse <= kMostRmse, "rmse", m.rmse, kMostRmse);
    if (!std::isnan(m.gp_rmse)) {
      bar(m.rmse <= kMostOfGp * m.gp_rmse, "rmse relative to the GP's", m.rmse / m.gp_rmse, kMostOfGp);
    }
    bar(m.coverage95 >= kLeastCoverage, "coverage", m.coverage95, kLeastCoverage);
    bar(m.coverage95 <= kMostCoverage, "coverage", m.coverage95, kMostCoverage);
    bar(m.fit_seconds <= kMostFitSeconds, "seconds of the fit", m.fit_seconds, kMostFitSeconds);
    bar(m.predict_seconds <= kMostPredictSeconds, "seconds of the predictions", m.predict_seconds, kMostPredictSeconds);
    bar(m.peak_rss_mib <= kMostMib, "peak MiB", m.peak_rss_mib, kMostMib);
    return missed;
  }

  std::string data_, svg_, inference_ = "neighbours", kernel_ = "evidence";
  int train_low_ = 800000, train_high_ = 1000, test_ = 10000, threads_ = 0;
  std::vector<int64_t> seeds_ = {1};
  double budget_ = 0;
  bool swap_ = false, no_gp_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeMalariaCommand() { return std::make_unique<MalariaCommand>(); }

}  // namespace fidelio::bench
