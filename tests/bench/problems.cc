// fidelio-bench problems: the tuning set, many problems and seeds, beside the GP of the highest level alone.
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tests/bench/cases.h"
#include "tests/bench/commands.h"
#include "tests/bench/methods.h"
#include "tests/bench/result.h"
#include "tests/bench/summary.h"
#include "tests/bench/table.h"
#include "tests/support/problems/problem.h"

namespace fidelio::bench {
namespace {

constexpr double kLowestCoverage = 0.93;
constexpr double kHighestCoverage = 0.97;

void PrintProblems() {
  Table table({"problem", "inputs", "training points", "about"});
  for (const Problem& p : AllProblems()) {
    table.Add({p.name, absl::StrCat(p.dimension()), absl::StrJoin(p.sizes, "/"), p.about});
  }
  table.Print();
}

void PrintSummaries(const std::vector<Summary>& summaries) {
  Table table({"problem", "method", "runs", "rmse/sd", "p90", "mnll/sd", "p90", "cover95", "fit s", "failed"});
  for (const Summary& s : summaries) {
    table.Add({s.problem, s.method, absl::StrCat(s.runs), Fixed(s.rmse_mean, 4), Fixed(s.rmse_p90, 4),
               Fixed(s.mnll_mean, 3), Fixed(s.mnll_p90, 3), Fixed(s.mean.coverage95, 3), Fixed(s.fit_seconds, 3),
               absl::StrCat(s.failures)});
  }
  table.Print();
}

// Results of other programs on the same data sets; those of other data sets are left out.
absl::StatusOr<std::vector<Result>> ReadOthers(const std::vector<std::string>& paths, const std::vector<Case>& cases) {
  std::map<std::pair<std::string, int64_t>, double> sd;
  for (const Case& data : cases) sd[{data.problem, data.seed}] = StandardDeviation(data.test.y);
  std::vector<Result> kept;
  for (const std::string& path : paths) {
    absl::StatusOr<std::vector<Result>> read = ReadResults(path);
    if (!read.ok()) return read.status();
    for (Result& result : *read) {
      const auto found = sd.find({result.problem, result.seed});
      if (found == sd.end()) continue;
      result.test_sd = found->second;
      kept.push_back(std::move(result));
    }
  }
  return kept;
}

class ProblemsCommand : public Command {
 public:
  std::string name() const override { return "problems"; }
  std::string about() const override { return "Accuracy and calibration on many problems and seeds (the tuning set)"; }

  void AddOptions(CLI::App& app) override {
    app.add_flag("--list", list_, "print the problems and end");
    app.add_option("--dump", dump_, "write the data sets to this directory and end");
    app.add_option("--data", data_, "read the data sets from this directory instead of making them");
    app.add_option("--problems", problems_, "only these problems")->delimiter(',');
    app.add_option("--seeds", seeds_, "number of data sets per problem")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--first-seed", first_seed_, "seed of the first data set")->capture_default_str();
    app.add_option("--methods", methods_, "by name, as in table1")->delimiter(',')->capture_default_str();
    app.add_option("--also", also_, "results of other programs on the same data, as written by --json");
    app.add_option("--jobs", jobs_, "data sets at a time, one thread each")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--fit-seed", fit_seed_, "seed of the fits")->capture_default_str();
  }

  absl::StatusOr<Outcome> Run() override {
    Outcome outcome;
    outcome.json = nlohmann::json::array();
    if (list_) {
      PrintProblems();
      outcome.summary = absl::StrCat(AllProblems().size(), " problems");
      return outcome;
    }
    if (absl::Status status = CheckMethods(methods_); !status.ok()) return status;
    std::vector<int64_t> seeds(seeds_);
    std::iota(seeds.begin(), seeds.end(), first_seed_);
    const absl::StatusOr<std::vector<Case>> cases =
        data_.empty() ? GenerateCases(problems_, seeds) : LoadCases(data_, problems_, seeds);
    if (!cases.ok()) return cases.status();
    if (!dump_.empty()) {
      if (absl::Status status = WriteCases(*cases, dump_); !status.ok()) return status;
      outcome.summary = absl::StrCat(cases->size(), " data sets written to ", dump_);
      return outcome;
    }
    std::vector<Result> results = EvaluateAll(*cases, methods_, fit_seed_, /*threads=*/1, jobs_);
    outcome.json = ToJson(results);
    absl::StatusOr<std::vector<Result>> others = ReadOthers(also_, *cases);
    if (!others.ok()) return others.status();
    results.insert(results.end(), others->begin(), others->end());
    Report(results, &outcome);
    return outcome;
  }

 private:
  void Report(const std::vector<Result>& results, Outcome* outcome) const {
    const std::vector<std::string> methods = MethodsOf(results);
    std::vector<Summary> summaries;
    std::vector<Summary> overall;
    for (const std::string& problem : ProblemsOf(results)) {
      for (const std::string& method : methods) {
        Summary summary = Summarise(results, problem, method);
        if (summary.runs > 0) summaries.push_back(std::move(summary));
      }
    }
    for (const std::string& method : methods) overall.push_back(Summarise(results, "", method));
    summaries.insert(summaries.end(), overall.begin(), overall.end());
    PrintSummaries(summaries);

    const Summary& first = overall.front();
    if (first.failures > 0) {
      outcome->missed.push_back(absl::StrFormat("%s: %d of %d fits failed", first.method, first.failures, first.runs));
    }
    for (const std::string& other : methods) {
      if (other != first.method) Compare(OnCommonData(results, first.method, other), first.method, other, outcome);
    }
    if (first.mean.coverage95 < kLowestCoverage || first.mean.coverage95 > kHighestCoverage) {
      outcome->missed.push_back(absl::StrFormat("coverage95 of %s %.3f, must be from %g to %g", first.method,
                                                first.mean.coverage95, kLowestCoverage, kHighestCoverage));
    }
    outcome->summary = absl::StrFormat(
        "%s on %d data sets: rmse/sd %.4f (p90 %.4f), mnll/sd %.3f (p90 %.3f), coverage95 %.3f, %d failed, %d bars "
        "missed",
        first.method, first.runs, first.rmse_mean, first.rmse_p90, first.mnll_mean, first.mnll_p90,
        first.mean.coverage95, first.failures, outcome->missed.size());
  }

  // The method must be better than the other in the mean over the data sets that both have.
  static void Compare(const std::vector<Result>& common, const std::string& method, const std::string& other,
                      Outcome* outcome) {
    const Summary a = Summarise(common, "", method);
    const Summary b = Summarise(common, "", other);
    std::printf("on %d data sets with %s: rmse/sd %.4f beside %.4f, mnll/sd %.3f beside %.3f\n", a.runs, other.c_str(),
                a.rmse_mean, b.rmse_mean, a.mnll_mean, b.mnll_mean);
    if (a.rmse_mean >= b.rmse_mean) {
      outcome->missed.push_back(
          absl::StrFormat("mean rmse/sd of %s %.4f, not below %s with %.4f", method, a.rmse_mean, other, b.rmse_mean));
    }
    if (a.mnll_mean >= b.mnll_mean) {
      outcome->missed.push_back(
          absl::StrFormat("mean mnll/sd of %s %.3f, not below %s with %.3f", method, a.mnll_mean, other, b.mnll_mean));
    }
  }

  bool list_ = false;
  std::string dump_;
  std::string data_;
  std::vector<std::string> problems_;
  int seeds_ = 10;
  int64_t first_seed_ = 1000;
  std::vector<std::string> methods_ = {"mf_dgp", "gp"};
  std::vector<std::string> also_;
  int jobs_ = 1;
  uint64_t fit_seed_ = 0;
};

}  // namespace

std::unique_ptr<Command> MakeProblemsCommand() { return std::make_unique<ProblemsCommand>(); }

}  // namespace fidelio::bench
