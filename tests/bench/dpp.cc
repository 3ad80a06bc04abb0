// fidelio-bench dpp: how long draws from k-DPPs take, on candidates spread at random over the unit square, against a textbook
// sampler that starts from all eigenvectors; how our eigensolver compares with Eigen's; whether large k and scaled kernels work; how
// greedy designs grow; and how long a design from a fitted model takes.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/random.h"
#include "core/base/sobol.h"
#include "core/base/status_macros.h"
#include "core/design/dpp_design.h"
#include "core/design/dpp_map.h"
#include "core/design/k_dpp.h"
#include "core/dgp/moments/mf_dgp.h"
#include "tests/bench/commands.h"
#include "tests/bench/csv.h"
#include "tests/bench/machine_rate.h"
#include "tests/bench/npy.h"
#include "tests/bench/plain_dpp.h"
#include "tests/bench/table.h"
#include "tests/support/problems/design.h"

namespace fidelio::bench {
namespace {

constexpr double kLengthscale = 0.1;
constexpr int kLargeK = 400;

// Bars; times are for 2,500 candidates and k = 50.
constexpr double kFirstLowRankSeconds = 0.3, kFirstFullRankSeconds = 2.5, kFurtherSeconds = 3e-3;
constexpr double kLogDeterminantError = 1e-8, kMapExponent = 1.2;
constexpr int kSolverRows = 1000;
constexpr double kSolverGain = 1.5;   // on one core, of a matrix of full rank: else Eigen's solver would do
constexpr double kDesignSeconds = 5;  // of a design of 2,500 candidates, joint posterior included

Matrix RandomPoints(int n) {
  Random random(1, 0);
  Matrix x(n, 2);
  for (double& value : x.reshaped()) value = random.Uniform();
  return x;
}

double Rbf(double squared_distance) { return std::exp(-0.5 * squared_distance / (kLengthscale * kLengthscale)); }
double Matern12(double squared_distance) { return std::exp(-std::sqrt(squared_distance) / kLengthscale); }

Matrix Kernel(const Matrix& x, double (*function)(double)) {
  Matrix kernel(x.rows(), x.rows());
  for (Eigen::Index j = 0; j < x.rows(); ++j) {
    for (Eigen::Index i = j; i < x.rows(); ++i) {
      kernel(i, j) = kernel(j, i) = function((x.row(i) - x.row(j)).squaredNorm());
    }
  }
  return kernel;
}

struct Seconds {
  double wall;
  double cpu;  // of all threads, for information
};

// The quickest of some runs: the least disturbed by whatever else the machine does.
template <typename Body>
Seconds Time(int runs, const Body& body) {
  using Clock = std::chrono::steady_clock;
  Seconds best{.wall = 1e300, .cpu = 1e300};
  for (int run = 0; run < runs; ++run) {
    const Clock::time_point start = Clock::now();
    const std::clock_t cpu = std::clock();
    body(run);
    best.cpu = std::min(best.cpu, static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC);
    best.wall = std::min(best.wall, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

nlohmann::json ToJson(const Seconds& seconds) { return {{"wall_seconds", seconds.wall}, {"cpu_seconds", seconds.cpu}}; }

// Median of many calls.
template <typename Body>
double MedianSeconds(int calls, const Body& body) {
  std::vector<double> durations;
  for (int call = 0; call < calls; ++call) durations.push_back(Time(1, [&](int) { body(call); }).wall);
  std::nth_element(durations.begin(), durations.begin() + calls / 2, durations.end());
  return durations[calls / 2];
}

class DppCommand : public Command {
 public:
  std::string name() const override { return "dpp"; }
  std::string about() const override { return "Draws from k-DPPs and greedy designs: time and correctness"; }

  void AddOptions(CLI::App& app) override {
    app.add_option("--candidates", candidates_, "how many")->check(CLI::Range(200, 10000))->capture_default_str();
    app.add_option("--k", k_, "how many are drawn")->check(CLI::Range(1, 100))->capture_default_str();
    app.add_option("--runs", runs_, "of every factorisation; the quickest counts")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--threads", threads_, "of the factorisation; 0: all cores")->capture_default_str();
    app.add_option("--dump-kernel", dump_, "write the kernel to this file (.npy)");
  }

  absl::StatusOr<Outcome> Run() override {
    outcome_ = {};
    const Matrix x = RandomPoints(candidates_), smooth = Kernel(x, Rbf);
    if (!dump_.empty()) FIDELIO_RETURN_IF_ERROR(WriteFile(dump_, ToNpy(smooth)));
    outcome_.json = {{"candidates", candidates_}, {"k", k_}, {"threads", threads_}, {"lengthscale", kLengthscale}};
    Table table({"kernel", "sampler", "rank", "first s", "cpu s", "further ms"});
    FIDELIO_RETURN_IF_ERROR(Speed("rbf", smooth, table));
    const Matrix rough = Kernel(x, Matern12);
    FIDELIO_RETURN_IF_ERROR(Speed("matern12", rough, table));
    table.Print();
    const int rows = std::min(candidates_, kSolverRows);
    FIDELIO_RETURN_IF_ERROR(Solver(rough.topLeftCorner(rows, rows)));
    FIDELIO_RETURN_IF_ERROR(LargeK(smooth));
    FIDELIO_RETURN_IF_ERROR(Scales(smooth));
    FIDELIO_RETURN_IF_ERROR(MapGrowth());
    FIDELIO_RETURN_IF_ERROR(ModelDesign());
    absl::StrAppend(&outcome_.summary, outcome_.missed.size(), " bars missed");
    return outcome_;
  }

 private:
  void Bar(const std::string& what, double value, double bar) {
    if (!(value <= bar)) outcome_.missed.push_back(absl::StrFormat("%s: %.3g, bar %g", what, value, bar));
  }

  // First and further draws of ours and of the textbook's, and our determinants.
  absl::Status Speed(const std::string& kernel_name, const Matrix& kernel, Table& table) {
    absl::StatusOr<KDpp> dpp;
    absl::StatusOr<KDppDraw> draw;
    const Seconds first = Time(runs_, [&](int seed) {
      dpp = KDpp::FromKernel(kernel, {.largest_k = k_, .threads = threads_});
      if (dpp.ok()) draw = dpp->Sample(k_, seed);
    });
    FIDELIO_RETURN_IF_ERROR(dpp.status());
    FIDELIO_RETURN_IF_ERROR(draw.status());
    // Where one draw is all that is wanted, as of a design.
    const Seconds once =
        Time(runs_, [&](int seed) { draw = KDpp::SampleOnce(kernel, k_, seed, {.threads = threads_}); });
    FIDELIO_RETURN_IF_ERROR(draw.status());
    double error = 0;
    const double further = MedianSeconds(200, [&](int seed) { draw = dpp->Sample(k_, seed); });
    for (int seed = 0; seed < 20; ++seed) {
      FIDELIO_ASSIGN_OR_RETURN(draw, dpp->Sample(k_, seed));
      const double dense = DenseLogDeterminant(kernel(draw->indices, draw->indices));
      error = std::max(error, std::abs(draw->log_determinant - dense) / std::max(1.0, std::abs(dense)));
    }
    FIDELIO_ASSIGN_OR_RETURN(const double total_variation, dpp->TotalVariation(k_));

    absl::StatusOr<KDpp> all;
    Matrix log_elementary;
    Random random(7, 0);
    const auto plain_draw = [&](int) { PlainDraw(all->values(), all->vectors(), log_elementary, k_, random); };
    const Seconds plain_first = Time(1, [&](int) {
      all = KDpp::FromKernel(kernel, {.low_rank = false, .threads = threads_});
      if (!all.ok()) return;
      log_elementary = LogElementarySymmetric(all->values(), k_);
      plain_draw(0);
    });
    FIDELIO_RETURN_IF_ERROR(all.status());
    const double plain_further = MedianSeconds(50, plain_draw);

    table.Add({kernel_name, "ours", absl::StrCat(dpp->rank()), Fixed(first.wall, 3), Fixed(first.cpu, 3),
               Fixed(1e3 * further, 3)});
    table.Add({kernel_name, "ours, one draw", absl::StrCat(dpp->rank()), Fixed(once.wall, 3), Fixed(once.cpu, 3), "-"});
    table.Add({kernel_name, "textbook", absl::StrCat(all->rank()), Fixed(plain_first.wall, 3),
               Fixed(plain_first.cpu, 3), Fixed(1e3 * plain_further, 3)});
    outcome_.json[kernel_name] = {{"rank", dpp->rank()},
                                  {"total_variation", total_variation},
                                  {"first", ToJson(first)},
                                  {"once", ToJson(once)},
                                  {"further_seconds", further},
                                  {"textbook_rank", all->rank()},
                                  {"textbook_first", ToJson(plain_first)},
                                  {"textbook_further_seconds", plain_further},
                                  {"first_ratio", plain_first.wall / first.wall},
                                  {"further_ratio", plain_further / further},
                                  {"log_determinant_error", error}};
    absl::StrAppendFormat(&outcome_.summary, "%s first %.2f s (textbook %.2f), further %.2f ms (%.2f); ", kernel_name,
                          first.wall, plain_first.wall, 1e3 * further, 1e3 * plain_further);
    Bar(kernel_name + ": error of log-determinants", error, kLogDeterminantError);
    if (candidates_ == 2500 && k_ == 50) {
      const bool low = dpp->rank() < candidates_ / 2;
      Bar(kernel_name + ": seconds of the first draw", first.wall, low ? kFirstLowRankSeconds : kFirstFullRankSeconds);
      Bar(kernel_name + ": seconds of further draws", further, kFurtherSeconds);
    }
    return absl::OkStatus();
  }

  // All eigenvectors on one core, by our divide and conquer and by Eigen's QR iterations.
  absl::Status Solver(const Matrix& kernel) {
    absl::Status status;
    const Seconds ours =
        Time(2, [&](int) { status = KDpp::FromKernel(kernel, {.low_rank = false, .threads = 1}).status(); });
    FIDELIO_RETURN_IF_ERROR(status);
    const double eigen = EigenSolverSeconds(kernel), gain = eigen / ours.wall;
    std::printf("all eigenvectors of %d rows, one core: %.3f s, by Eigen %.3f s\n", static_cast<int>(kernel.rows()),
                ours.wall, eigen);
    outcome_.json["solver"] = {
        {"rows", kernel.rows()}, {"first", ToJson(ours)}, {"eigen_wall_seconds", eigen}, {"gain", gain}};
    if (kernel.rows() == kSolverRows && gain < kSolverGain) {
      outcome_.missed.push_back(
          absl::StrFormat("eigensolver: %.2f times as fast as Eigen's, bar %g", gain, kSolverGain));
    }
    return absl::OkStatus();
  }

  // One factorisation serves small and large k.
  absl::Status LargeK(const Matrix& kernel) {
    FIDELIO_ASSIGN_OR_RETURN(const KDpp dpp, KDpp::FromKernel(kernel, {.threads = threads_}));
    const int large = std::min(kLargeK, dpp.rank());
    nlohmann::json rows = nlohmann::json::array();
    for (const int k : {k_, large, k_}) {
      absl::StatusOr<KDppDraw> draw;
      const Seconds seconds = Time(1, [&](int) { draw = dpp.Sample(k, /*seed=*/3); });
      FIDELIO_RETURN_IF_ERROR(draw.status());
      const bool distinct = static_cast<int>(std::set<int>(draw->indices.begin(), draw->indices.end()).size()) == k;
      if (!distinct || !std::isfinite(draw->log_determinant)) {
        outcome_.missed.push_back(absl::StrFormat("k = %d: not a design, log det %g", k, draw->log_determinant));
      }
      const double dense = DenseLogDeterminant(kernel(draw->indices, draw->indices));
      if (k == k_ || !std::isnan(dense)) {
        const double error = std::abs(draw->log_determinant - dense) / std::max(1.0, std::abs(dense));
        Bar(absl::StrFormat("k = %d: error of log-determinants", k), error, kLogDeterminantError);
      }
      rows.push_back({{"k", k},
                      {"seconds", seconds.wall},
                      {"log_determinant", draw->log_determinant},
                      {"dense_log_determinant", std::isnan(dense) ? nlohmann::json() : nlohmann::json(dense)}});
      std::printf("one factorisation (rank %d): k = %d in %.2f ms, log det %.6f, dense %.6f\n", dpp.rank(), k,
                  1e3 * seconds.wall, draw->log_determinant, dense);
    }
    outcome_.json["sizes"] = std::move(rows);
    if (candidates_ >= 2500 && large < kLargeK) {
      outcome_.missed.push_back(absl::StrFormat("k = %d: the rank is %d", kLargeK, large));
    }
    return absl::OkStatus();
  }

  absl::Status Scales(const Matrix& kernel) {
    KDppDraw plain;
    nlohmann::json rows = nlohmann::json::array();
    for (const double scale : {1.0, 1e-12, 1e12}) {
      FIDELIO_ASSIGN_OR_RETURN(const KDpp dpp,
                               KDpp::FromKernel(scale * kernel, {.largest_k = k_, .threads = threads_}));
      FIDELIO_ASSIGN_OR_RETURN(const KDppDraw draw, dpp.Sample(k_, /*seed=*/5));
      if (scale == 1) plain = draw;
      const double expected = plain.log_determinant + k_ * std::log(scale);
      const double error = std::abs(draw.log_determinant - expected) / std::max(1.0, std::abs(expected));
      if (draw.indices != plain.indices || !(error <= kLogDeterminantError)) {
        outcome_.missed.push_back(
            absl::StrFormat("kernel times %g: another design, or log det off by %g", scale, error));
      }
      rows.push_back({{"scale", scale}, {"same_design", draw.indices == plain.indices}, {"error", error}});
    }
    outcome_.json["scales"] = std::move(rows);
    return absl::OkStatus();
  }

  // log(time) over log(candidates), by least squares.
  absl::Status MapGrowth() {
    constexpr int kMapK = 100;
    Table table({"candidates", "k", "greedy s", "us/candidate"});
    nlohmann::json rows = nlohmann::json::array();
    double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
    const std::vector<int> sizes = {2500, 5000, 10000, 20000, 40000};
    for (const int n : sizes) {
      const Matrix x = RandomPoints(n);
      const KernelColumn column = [&](Eigen::Index j, Eigen::Ref<Vector> to) {
        for (Eigen::Index i = 0; i < n; ++i) to[i] = Rbf((x.row(i) - x.row(j)).squaredNorm());
      };
      absl::Status status;
      const Seconds seconds = Time(runs_, [&](int) { status = GreedyDppMap(Vector::Ones(n), column, kMapK).status(); });
      FIDELIO_RETURN_IF_ERROR(status);
      table.Add({absl::StrCat(n), absl::StrCat(kMapK), Fixed(seconds.wall, 3), Fixed(1e6 * seconds.wall / n, 2)});
      rows.push_back({{"candidates", n}, {"k", kMapK}, {"seconds", seconds.wall}});
      const double log_n = std::log(n), log_t = std::log(seconds.wall);
      sum_x += log_n;
      sum_y += log_t;
      sum_xx += log_n * log_n;
      sum_xy += log_n * log_t;
    }
    table.Print();
    const double m = static_cast<double>(sizes.size());
    const double exponent = (m * sum_xy - sum_x * sum_y) / (m * sum_xx - sum_x * sum_x);
    outcome_.json["map"] = {{"sizes", std::move(rows)}, {"exponent", exponent}};
    absl::StrAppendFormat(&outcome_.summary, "greedy grows with exponent %.2f; ", exponent);
    Bar("greedy: exponent of the candidates", exponent, kMapExponent);
    return absl::OkStatus();
  }

  // A design from a fitted model of three fidelities, as the server makes it.
  absl::Status ModelDesign() {
    FIDELIO_ASSIGN_OR_RETURN(const Problem* problem, FindProblem("hartmann3"));
    FIDELIO_ASSIGN_OR_RETURN(const Dataset data, MakeDataset(*problem, problem->sizes, /*seed=*/1));
    FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<MixtureEmulator> model,
                             FitMfDgp(data, {.seed = 1, .threads = threads_}));
    FIDELIO_ASSIGN_OR_RETURN(const Matrix x, ScrambledSobol(candidates_, problem->lower, problem->upper, /*seed=*/1));
    absl::Status status;
    const Seconds joint = Time(1, [&](int) { status = model->JointMoments(x, {.threads = threads_}).status(); });
    FIDELIO_RETURN_IF_ERROR(status);
    const Seconds design = Time(1, [&](int) {
      DppDesignOptions options;
      options.k = k_;
      options.threads = threads_;
      status = DesignByDpp(*model, x, options).status();
    });
    FIDELIO_RETURN_IF_ERROR(status);
    std::printf("a design of %d of %d candidates from a model of %s: %.2f s, of which the joint posterior %.2f s\n", k_,
                candidates_, problem->name.c_str(), design.wall, joint.wall);
    outcome_.json["design"] = {{"problem", problem->name}, {"joint", ToJson(joint)}, {"design", ToJson(design)}};
    absl::StrAppendFormat(&outcome_.summary, "model's design %.2f s; ", design.wall);
    if (candidates_ == 2500) Bar("seconds of a model's design", design.wall, kDesignSeconds);
    return absl::OkStatus();
  }

  int candidates_ = 2500;
  int k_ = 50;
  int runs_ = 3;
  int threads_ = 0;
  std::string dump_;
  Outcome outcome_;
};

}  // namespace

std::unique_ptr<Command> MakeDppCommand() { return std::make_unique<DppCommand>(); }

}  // namespace fidelio::bench
