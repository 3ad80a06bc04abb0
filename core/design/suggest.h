// Suggest: the next simulations to run, each an input and a fidelity, given the cost of a run of each fidelity.
//
// A run of fidelity t at x informs the highest fidelity T at x' through their covariance: it is expected to reduce the
// variance of f_T(x') by
//
//   cov(f_t(x), f_T(x'))² / (var f_t(x) + noise_t)
//
// with the moments of the model's joint posterior. These are exact (Emulator::JointMomentsAt), not estimated from
// samples: the reduction is a function of second moments alone, so that paths (Emulator::DrawPaths) could only add
// noise, of which a maximum over thousands of (x, t) would find the largest; P paths know covariances to a P^(−½)th of
// the deviations, while a run of a cheap fidelity often changes the variance by less. Runs are chosen one after the
// other, each as if those before it had been made and had given what was expected of them: the joint covariance is
// conditioned on them, the mean stays.
//
//   kVarianceReduction   the mean over the targets of that reduction, per unit of cost
//   kMaximumVariance     x where f_T is least known
//   kExpectedImprovement x with the largest expected improvement of f_T over the best so far
//   kConfidenceBound     x with the best bound mean ∓ width·sd of f_T
// The last three choose x by the highest fidelity alone, and then t by the reduction of the variance of f_T(x) per unit
// of cost. The best so far is the best mean of f_T at the inputs that were observed at any fidelity.
#ifndef FIDELIO_CORE_DESIGN_SUGGEST_H_
#define FIDELIO_CORE_DESIGN_SUGGEST_H_

#include <functional>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/export.h"
#include "core/base/types.h"
#include "core/emulator/emulator.h"

namespace fidelio {

enum class Criterion { kVarianceReduction, kMaximumVariance, kExpectedImprovement, kConfidenceBound };

struct SuggestOptions {
  Criterion criterion = Criterion::kVarianceReduction;
  int count = 1;  // ≥ 1: how many runs
  double budget =
      std::numeric_limits<double>::infinity();  // > 0: runs that would exceed what is left of it are not chosen
  std::vector<double> costs = {};               // per level, > 0
  std::vector<int> levels = {};                 // that may be run; empty: all
  bool maximise = false;                        // for kExpectedImprovement and kConfidenceBound; else minimise
  double width = 2;                             // ≥ 0, of kConfidenceBound
  int threads = 1;                              // 0: all cores; results do not depend on it
  std::function<absl::Status()> check = {};     // asked now and then: its error ends the work
};

struct Suggestion {
  int candidate = 0;  // row of the candidates
  int level = 0;
  double cost = 0;
  double value = 0;  // of the criterion: mean variance reduction, sd, expected improvement, or bound; before this run
};

// Why there are fewer runs than asked for.
enum class Shortfall {
  kNone,
  kBudgetTooSmall,  // it is below the cost of every level that may be run
  kBudgetSpent,     // what is left of it pays for no run that is expected to reduce the variance
  kNothingToLearn,  // no run at any candidate is expected to reduce the variance
};

struct Suggestions {
  std::vector<Suggestion> runs;
  Shortfall shortfall = Shortfall::kNone;
  double variance_before = 0;  // of f_T, mean over the targets
  double variance_after = 0;   // expected after all runs
};

// `candidates` are n ≥ 1 inputs to choose from, `targets` m ≥ 1 inputs where f_T matters, `observed` the inputs where
// the best so far is looked for (empty: among the candidates). INVALID_ARGUMENT naming the field, its value and the
// rule.
FIDELIO_EXPORT absl::StatusOr<Suggestions> Suggest(const Emulator& model, const Matrix& candidates,
                                                   const Matrix& targets, const Matrix& observed,
                                                   const SuggestOptions& options);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DESIGN_SUGGEST_H_
