// fidelio-bench growth: how time and memory of a fit with neighbour layers grow with the low-fidelity observations.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "core/registry/emulator_registry.h"
#include "tests/bench/commands.h"
#include "tests/bench/map_data.h"
#include "tests/bench/now.h"
#include "tests/bench/peak_memory.h"
#include "tests/bench/table.h"

namespace fidelio::bench {
namespace {

constexpr double kMostExponent = 1.1;
constexpr double kGrowthSmoothness = 1.5;

struct Point {
  int count = 0;
  double fit_seconds = 0, load_seconds = 0, peak_mib = 0, checkpoint_mib = 0;
};

class GrowthCommand : public Command {
 public:
  std::string name() const override { return "growth"; }
  std::string about() const override { return "Time and memory of a fit by the number of low-fidelity observations"; }

  void AddOptions(CLI::App& app) override {
    app.add_option("--data", data_, "a map as for malaria; absent: one that is made up");
    app.add_option("--counts", counts_, "low-fidelity observations, ascending")->delimiter(',')->capture_default_str();
    app.add_option("--train-high", train_high_, "high-fidelity observations")->capture_default_str();
    app.add_option("--seed", seed_, "draws the rows")->capture_default_str();
    app.add_option("--threads", threads_, "0: all cores")->capture_default_str();
  }

  absl::StatusOr<Outcome> Run() override {
    if (!std::is_sorted(counts_.begin(), counts_.end())) {
      return absl::InvalidArgumentError("--counts: not ascending: the peak of memory would be that of an earlier fit");
    }
    MapData map;
    if (data_.empty()) {
      map = MakeMap(counts_.back() + train_high_, kGrowthSmoothness, seed_);
    } else {
      FIDELIO_ASSIGN_OR_RETURN(map, ReadMap(data_));
    }
    const double before = PeakMemoryMib();
    Outcome outcome;
    Table table({"low", "fit s", "load s", "peak MiB", "of the fit", "checkpoint MiB"});
    std::vector<Point> points;
    for (const int count : counts_) {
      FIDELIO_ASSIGN_OR_RETURN(const Point point, Measure(map, count));
      points.push_back(point);
      table.Add({absl::StrFormat("%d", count), Fixed(point.fit_seconds, 2), Fixed(point.load_seconds, 2),
                 Fixed(point.peak_mib, 0), Fixed(point.peak_mib - before, 0), Fixed(point.checkpoint_mib, 1)});
      outcome.json["points"].push_back({{"low", count},
                                        {"fit_seconds", point.fit_seconds},
                                        {"load_seconds", point.load_seconds},
                                        {"peak_rss_mib", point.peak_mib},
                                        {"checkpoint_mib", point.checkpoint_mib}});
    }
    table.Print();
    double seconds = 0, memory = 0;  // the largest exponents between two counts
    for (size_t k = 1; k < points.size(); ++k) {
      const Point &a = points[k - 1], &b = points[k];
      const double step = std::log(static_cast<double>(b.count) / a.count);
      seconds = std::max(seconds, std::log(b.fit_seconds / a.fit_seconds) / step);
      // What the process had before belongs to no fit; the least that is told apart is a MiB.
      memory =
          std::max(memory, std::log(std::max(1.0, b.peak_mib - before) / std::max(1.0, a.peak_mib - before)) / step);
    }
    outcome.json["seconds_exponent"] = seconds;
    outcome.json["memory_exponent"] = memory;
    if (!(seconds <= kMostExponent)) {
      outcome.missed.push_back(absl::StrFormat("exponent of seconds %.2f, bar %g", seconds, kMostExponent));
    }
    if (!(memory <= kMostExponent)) {
      outcome.missed.push_back(absl::StrFormat("exponent of memory %.2f, bar %g", memory, kMostExponent));
    }
    outcome.summary = absl::StrFormat(
        "%d low-fidelity observations: fit %.1f s, load %.2f s, peak %.0f MiB; largest exponents: seconds %.2f, memory "
        "%.2f, %d bars missed",
        points.back().count, points.back().fit_seconds, points.back().load_seconds, points.back().peak_mib, seconds,
        memory, outcome.missed.size());
    return outcome;
  }

 private:
  absl::StatusOr<Point> Measure(const MapData& map, int count) const {
    FIDELIO_ASSIGN_OR_RETURN(const MapSplit split, SplitMap(map, count, train_high_, 0, seed_));
    FIDELIO_ASSIGN_OR_RETURN(const EmulatorMethod* method, FindEmulatorMethod("mf_dgp_neighbours"));
    Point point;
    point.count = count;
    std::string checkpoint;
    {
      const double begin = Now();
      const FitOptions options{.kernel = std::nullopt, .seed = seed_, .threads = threads_};
      FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<EmulatorFit> fit, method->create(split.train, options));
      FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<MixtureEmulator> model, fit->Run(nullptr));
      point.fit_seconds = Now() - begin;
      point.peak_mib = PeakMemoryMib();
      checkpoint = model->Save();
    }
    point.checkpoint_mib = static_cast<double>(checkpoint.size()) / (1 << 20);
    const double begin = Now();
    FIDELIO_RETURN_IF_ERROR(LoadEmulator(checkpoint).status());
    point.load_seconds = Now() - begin;
    return point;
  }

  std::string data_;
  std::vector<int> counts_ = {10000, 100000, 800000};
  int train_high_ = 200, threads_ = 0;
  uint64_t seed_ = 1;
};

}  // namespace

std::unique_ptr<Command> MakeGrowthCommand() { return std::make_unique<GrowthCommand>(); }

}  // namespace fidelio::bench
