#include "tests/bench/stress_cases.h"

#include <cmath>
#include <cstdlib>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/support/problems/design.h"
#include "tests/support/problems/problem.h"

namespace fidelio::bench {
namespace {

constexpr int kStressTestPoints = 200;

const Problem& Known(const char* name) {
  const absl::StatusOr<const Problem*> problem = FindProblem(name);
  if (!problem.ok()) std::abort();  // the names below are in the registry, which a test checks
  return **problem;
}

// Data of a known problem with other sizes (empty: its own).
Case From(const char* name, const Problem& problem, std::vector<int> sizes, int64_t seed) {
  if (sizes.empty()) sizes = problem.sizes;
  Case made;
  made.problem = name;
  made.seed = seed;
  made.train = MakeDataset(problem, sizes, static_cast<uint64_t>(seed)).value();
  made.test = MakeTestSet(problem, kStressTestPoints, static_cast<uint64_t>(seed)).value();
  return made;
}

Case Scaled(const char* name, const Problem& problem, double scale, int64_t seed) {
  Case made = From(name, problem, {}, seed);
  for (LevelData& level : made.train.levels) level.y *= scale;
  made.test.y *= scale;
  return made;
}

// A smooth function of many inputs of which only some matter.
Problem ManyInputs(int dimension) {
  return {.name = "many_inputs",
          .about = "",
          .lower = Vector::Zero(dimension),
          .upper = Vector::Ones(dimension),
          .costs = {0.1, 1},
          .sizes = {60, 20},
          .noises = {},
          .function = [](int level, const Vector& x) {
            const double low = std::sin(3 * x[0]) + x[1] * x[2] + 0.5 * x[3];
            return level == 0 ? low : 1.5 * low + 0.3 * x[4];
          }};
}

// Every second point repeats the one before it; y too, or shifted by `by`.
void Duplicate(LevelData* level, double by) {
  for (int i = 1; i < level->y.size(); i += 2) {
    level->x.row(i) = level->x.row(i - 1);
    level->y[i] = level->y[i - 1] + by;
  }
}

Case WithoutTest(Case made) {
  made.test = {};
  return made;
}

}  // namespace

std::vector<Case> MakeStressCases(int64_t seed) {
  const Problem& branin = Known("branin");
  const Problem& currin = Known("currin");
  const Problem& forrester = Known("forrester");
  std::vector<Case> cases;

  cases.push_back(From("duplicated_inputs", currin, {24, 10}, seed));
  for (LevelData& level : cases.back().train.levels) Duplicate(&level, 0);
  cases.push_back(WithoutTest(From("contradicting_inputs", currin, {24, 10}, seed)));
  for (LevelData& level : cases.back().train.levels) Duplicate(&level, 0.5);
  cases.push_back(From("all_points_equal", currin, {5, 3}, seed));
  for (LevelData& level : cases.back().train.levels) {
    level.x.rowwise() = level.x.row(0).eval();
    level.y.setConstant(level.y[0]);
  }
  cases.back() = WithoutTest(cases.back());

  cases.push_back(WithoutTest(From("constant_outputs", currin, {}, seed)));
  for (LevelData& level : cases.back().train.levels) level.y.setConstant(3);
  cases.push_back(From("constant_low", currin, {12, 10}, seed));
  cases.back().train.levels[0].y.setConstant(-7);
  cases.push_back(WithoutTest(From("constant_high", currin, {}, seed)));
  cases.back().train.levels[1].y.setConstant(1e5);
  cases.push_back(WithoutTest(From("zero_outputs", branin, {}, seed)));
  for (LevelData& level : cases.back().train.levels) level.y.setZero();

  cases.push_back(WithoutTest(From("one_point_per_level", branin, {1, 1, 1}, seed)));
  cases.push_back(WithoutTest(From("one_high_point", currin, {12, 1}, seed)));
  cases.push_back(WithoutTest(From("two_points_per_level", Known("borehole"), {2, 2}, seed)));

  cases.push_back(Scaled("outputs_times_1e12", branin, 1e12, seed));
  cases.push_back(Scaled("outputs_times_1e-12", branin, 1e-12, seed));
  cases.push_back(Scaled("linear_outputs_times_1e12", forrester, 1e12, seed));
  cases.push_back(Scaled("linear_outputs_times_1e-12", forrester, 1e-12, seed));
  cases.push_back(From("outputs_plus_1e9", currin, {}, seed));
  for (LevelData& level : cases.back().train.levels) level.y.array() += 1e9;
  cases.back().test.y.array() += 1e9;
  cases.push_back(From("levels_of_other_scales", currin, {}, seed));
  cases.back().train.levels[0].y *= 1e6;
  for (const double scale : {1e12, 1e-12}) {
    cases.push_back(From(scale > 1 ? "inputs_times_1e12" : "inputs_times_1e-12", currin, {}, seed));
    for (LevelData& level : cases.back().train.levels) level.x *= scale;
    cases.back().test.x *= scale;
  }
  cases.push_back(From("constant_input", currin, {}, seed));
  for (LevelData& level : cases.back().train.levels) level.x.col(1).setConstant(0.5);
  cases.back() = WithoutTest(cases.back());

  cases.push_back(From("twenty_inputs", ManyInputs(20), {}, seed));
  cases.push_back(From("twenty_inputs_few_points", ManyInputs(20), {15, 4}, seed));
  cases.push_back(From("empty_middle_level", branin, {80, 0, 20}, seed));
  cases.push_back(WithoutTest(From("empty_top_level", branin, {40, 20, 0}, seed)));
  cases.push_back(From("only_one_level_filled", Known("forrester3"), {12, 0, 0}, seed));
  cases.back() = WithoutTest(cases.back());

  cases.push_back(From("noise_free_dense", forrester, {60, 40}, seed));
  cases.push_back(From("noise_free_polynomial", Known("booth"), {60, 30}, seed));
  Problem noisy = forrester;
  noisy.noises = {{.sd = 8, .relative_sd = 0}, {.sd = 12, .relative_sd = 0}};
  cases.push_back(From("very_noisy", noisy, {60, 30}, seed));
  noisy = Known("hartmann3");
  noisy.noises.assign(3, {.sd = 1, .relative_sd = 0});
  cases.push_back(From("very_noisy_three_levels", noisy, {}, seed));
  cases.push_back(From("more_high_than_low", currin, {6, 25}, seed));
  cases.push_back(From("nested_inputs", currin, {20, 8}, seed));
  cases.back().train.levels[1].x = cases.back().train.levels[0].x.topRows(8);
  for (int i = 0; i < 8; ++i) {
    cases.back().train.levels[1].y[i] = currin.function(1, cases.back().train.levels[1].x.row(i).transpose());
  }
  cases.push_back(From("outlier", currin, {30, 12}, seed));
  cases.back().train.levels[0].y[3] += 100;
  cases.back() = WithoutTest(cases.back());
  cases.push_back(From("step", Known("jump"), {}, seed));
  return cases;
}

Case MakeOneSidedCase(int64_t seed) {
  const Problem& problem = Known("forrester_nonlinear");
  Case made = From("one_sided", problem, {30, 8}, seed);
  LevelData& high = made.train.levels[1];
  high.x *= 0.5;
  for (int i = 0; i < high.y.size(); ++i) high.y[i] = problem.function(1, high.x.row(i).transpose());
  return made;
}

std::vector<std::string> BadlyLinkedProblems() {
  return {"useless1", "useless2", "useless3", "reversed1", "reversed2"};
}

}  // namespace fidelio::bench
