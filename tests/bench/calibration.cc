// fidelio-bench calibration: whether posteriors are what they claim to be, on data drawn from the models' own priors.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "tests/bench/calibration_cases.h"
#include "tests/bench/commands.h"
#include "tests/bench/rank_histogram.h"
#include "tests/bench/table.h"

namespace fidelio::bench {
namespace {

constexpr int kRankBins = 10;
constexpr double kLeastPValue = 0.01;
constexpr int kConfirmation = 5;  // times as many replicates decide where the first p-value is too small
constexpr double kLeastCalibrated = 0.92, kMostCalibrated = 0.97;

struct CalibrationResult {
  std::vector<RankHistogram> ranks;  // one per quantity
  int replicates = 0, points = 0, covered = 0;
  std::vector<std::string> errors;

  double coverage() const { return points > 0 ? static_cast<double>(covered) / points : 0; }
};

// Of the replicates begin … begin + count − 1.
CalibrationResult Replicate(const CalibrationCase& one, uint64_t seed, int begin, int count, int threads) {
  std::vector<CalibrationReplicate> all(count);
  ParallelFor(count, threads, [&](int i) { all[i] = one.run(seed, static_cast<uint32_t>(begin + i)); });
  CalibrationResult result;
  result.ranks.assign(one.quantities.size(), RankHistogram(kRankDraws, kRankBins));
  result.replicates = count;
  for (const CalibrationReplicate& r : all) {
    if (!r.error.empty()) {
      result.errors.push_back(r.error);
      continue;
    }
    result.points += r.points;
    result.covered += r.covered;
    for (size_t q = 0; q < r.ranks.size(); ++q) result.ranks[q].Add(r.ranks[q]);
  }
  return result;
}

class CalibrationCommand : public Command {
 public:
  std::string name() const override { return "calibration"; }
  std::string about() const override {
    return "Simulation-based calibration: ranks and coverage on data drawn from the models' own priors";
  }

  void AddOptions(CLI::App& app) override {
    app.add_option("--cases", cases_, "only cases whose names contain one of these")->delimiter(',');
    app.add_option("--replicates", replicates_, "data sets of every case")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--seed", seed_, "of data and fits")->capture_default_str();
    app.add_option("--threads", threads_, "data sets at a time, 0: one per core")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.footer(
        "Inputs are one-dimensional; a level has 10 observations (level 0) or 6, unless the case says otherwise; f is "
        "compared at 10\n"
        "inputs. Cases named \"fit\" are fitted as users fit. The others stay in the model's own units, since a fit "
        "would standardise\n"
        "outputs by the data, which the prior does not know: moments with 4 chains or more of 200 + 1000 transitions, "
        "200 draws and\n"
        "temperature 1; ar1 and nargp with the draws of nine searches. Ranks are those among 99 draws, in 10 bins.\n"
        "Bars: where inference is exact, p > 0.01 of every rank, or else of as many new replicates times five; where "
        "it is\n"
        "approximate, 95 % intervals cover 0.92 to 0.97 of f. Cases with the bar \"none\" are for information.");
  }

  absl::StatusOr<Outcome> Run() override {
    Outcome outcome;
    Table table({"case", "bar", "replicates", "failed", "cover95", "quantity", "p", "p of 5 x", "ranks"});
    int cases = 0;
    for (const CalibrationCase& one : CalibrationCases()) {
      if (!Wanted(one.name)) continue;
      ++cases;
      RunCase(one, table, outcome);
    }
    if (cases == 0) return absl::InvalidArgumentError("--cases: no case has such a name");
    table.Print();
    outcome.summary = absl::StrCat(cases, " cases of ", replicates_, " replicates, ", outcome.missed.size(),
                                   outcome.missed.size() == 1 ? " bar missed" : " bars missed");
    return outcome;
  }

 private:
  bool Wanted(const std::string& name) const {
    if (cases_.empty()) return true;
    for (const std::string& part : cases_) {
      if (absl::StrContains(name, part)) return true;
    }
    return false;
  }

  void RunCase(const CalibrationCase& one, Table& table, Outcome& outcome) const {
    const CalibrationResult first = Replicate(one, seed_, 0, replicates_, threads_);
    const bool exact = one.bar == CalibrationBar::kUniformRanks;
    bool doubtful = false;
    for (const RankHistogram& ranks : first.ranks) doubtful = doubtful || (exact && ranks.PValue() <= kLeastPValue);
    CalibrationResult again;
    if (doubtful) again = Replicate(one, seed_, replicates_, kConfirmation * replicates_, threads_);
    Judge(one, first, again, outcome.missed);

    const char* bar = exact ? "uniform" : one.bar == CalibrationBar::kCoverage ? "coverage" : "none";
    nlohmann::json json = {{"case", one.name},
                           {"bar", bar},
                           {"replicates", replicates_},
                           {"failed", first.errors.size()},
                           {"coverage95", first.coverage()},
                           {"quantities", nlohmann::json::array()}};
    for (size_t q = 0; q < one.quantities.size(); ++q) {
      const double p = first.ranks[q].PValue();
      const bool confirmed = !again.ranks.empty() && p <= kLeastPValue;
      nlohmann::json quantity = {{"name", one.quantities[q]}, {"p", p}, {"ranks", first.ranks[q].counts()}};
      if (confirmed) quantity["p_confirmation"] = again.ranks[q].PValue();
      json["quantities"].push_back(std::move(quantity));
      const bool head = q == 0;
      table.Add({head ? one.name : "", head ? bar : "", head ? absl::StrCat(first.replicates) : "",
                 head ? absl::StrCat(first.errors.size()) : "", head ? Fixed(first.coverage(), 3) : "",
                 one.quantities[q], Fixed(p, 4), confirmed ? Fixed(again.ranks[q].PValue(), 4) : "",
                 first.ranks[q].Bars()});
    }
    outcome.json.push_back(std::move(json));
  }

  static void Judge(const CalibrationCase& one, const CalibrationResult& first, const CalibrationResult& again,
                    std::vector<std::string>& missed) {
    for (const CalibrationResult* result : {&first, &again}) {
      if (result->errors.empty()) continue;
      missed.push_back(absl::StrFormat("%s: %d of %d replicates failed: %s", one.name, result->errors.size(),
                                       result->replicates, result->errors[0]));
    }
    if (one.bar == CalibrationBar::kUniformRanks && !again.ranks.empty()) {
      for (size_t q = 0; q < one.quantities.size(); ++q) {
        const double p = first.ranks[q].PValue(), p_again = again.ranks[q].PValue();
        if (p > kLeastPValue || p_again > kLeastPValue) continue;
        missed.push_back(absl::StrFormat("%s: ranks of %s are not uniform: p %.2g, then %.2g; must be above %g",
                                         one.name, one.quantities[q], p, p_again, kLeastPValue));
      }
    }
    const double coverage = first.coverage();
    if (one.bar == CalibrationBar::kCoverage && (coverage < kLeastCalibrated || coverage > kMostCalibrated)) {
      missed.push_back(absl::StrFormat("%s: coverage95 %.3f, must be from %g to %g", one.name, coverage,
                                       kLeastCalibrated, kMostCalibrated));
    }
  }

  std::vector<std::string> cases_;
  int replicates_ = 200;
  uint64_t seed_ = 0;
  int threads_ = 0;
};

}  // namespace

std::unique_ptr<Command> MakeCalibrationCommand() { return std::make_unique<CalibrationCommand>(); }

}  // namespace fidelio::bench
