#include "tests/bench/loop_strategy.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/random.h"
#include "core/base/sobol.h"
#include "core/base/status_macros.h"
#include "core/design/dpp_design.h"
#include "core/design/suggest.h"

namespace fidelio::bench {
namespace {

using Eigen::Index;

constexpr int kDppCandidates = 1024, kSuggestCandidates = 256, kTargets = 256;  // as the server's defaults
constexpr uint32_t kRandomStream = 7;

std::vector<Run> AtTheTop(const LoopRound& round, const Matrix& x) {
  std::vector<Run> runs;
  for (Index i = 0; i < x.rows(); ++i) runs.push_back({.x = x.row(i), .level = round.problem.levels() - 1});
  return runs;
}

Matrix UniformPoints(const LoopRound& round) {
  Random random(round.seed, kRandomStream, static_cast<uint32_t>(round.number));
  Matrix x(round.points, round.problem.dimension());
  for (double& v : x.reshaped()) v = random.Uniform();
  const Vector width = round.problem.upper - round.problem.lower;
  return (x * width.asDiagonal()).rowwise() + round.problem.lower.transpose();
}

absl::StatusOr<Matrix> Candidates(const LoopRound& round, int n, uint64_t stream) {
  // Other points in every round.
  return ScrambledSobol(n, round.problem.lower, round.problem.upper, 1000 * round.seed + 10 * round.number + stream);
}

// `options`: as the server's, but for what a round says.
absl::StatusOr<std::vector<Run>> ByDpp(const LoopRound& round, DppDesignOptions options) {
  FIDELIO_ASSIGN_OR_RETURN(const Matrix candidates, Candidates(round, kDppCandidates, 1));
  options.k = round.points;
  options.seed = round.seed + static_cast<uint64_t>(round.number);
  FIDELIO_ASSIGN_OR_RETURN(const Design design, DesignByDpp(round.model, candidates, options));
  return AtTheTop(round, design.inputs);
}

absl::StatusOr<std::vector<Run>> BySuggest(const LoopRound& round) {
  FIDELIO_ASSIGN_OR_RETURN(const Matrix candidates, Candidates(round, kSuggestCandidates, 1));
  FIDELIO_ASSIGN_OR_RETURN(const Matrix targets, Candidates(round, kTargets, 2));
  SuggestOptions options;
  options.costs = round.problem.costs;
  options.budget = round.points * round.problem.costs.back() * (1 + 1e-9);
  options.count = 1000;
  FIDELIO_ASSIGN_OR_RETURN(const Suggestions suggestions,
                           Suggest(round.model, candidates, targets, Matrix(0, candidates.cols()), options));
  std::vector<Run> runs;
  for (const Suggestion& s : suggestions.runs) runs.push_back({.x = candidates.row(s.candidate), .level = s.level});
  return runs;
}

}  // namespace

const std::vector<std::string>& LoopStrategies() {
  static const auto* const kNames =
      new std::vector<std::string>{"random", "sobol", "dpp", "dpp_mean", "dpp_map", "suggest"};
  return *kNames;
}

absl::StatusOr<std::vector<Run>> ChooseRuns(const std::string& strategy, const LoopRound& round) {
  if (strategy == "random") return AtTheTop(round, UniformPoints(round));
  if (strategy == "sobol") {
    FIDELIO_ASSIGN_OR_RETURN(const Matrix all, ScrambledSobol(round.points * (round.number + 1), round.problem.lower,
                                                              round.problem.upper, round.seed));
    return AtTheTop(round, all.bottomRows(round.points));
  }
  if (strategy == "dpp") return ByDpp(round, {});
  if (strategy == "dpp_mean") return ByDpp(round, {.quality_mode = QualityMode::kMean});
  if (strategy == "dpp_map") return ByDpp(round, {.method = DppMethod::kMap});
  if (strategy == "suggest") return BySuggest(round);
  return absl::InvalidArgumentError(
      absl::StrCat("--strategies: ", strategy, ", want some of ", absl::StrJoin(LoopStrategies(), ", ")));
}

}  // namespace fidelio::bench
