// Problem: a function known at several fidelities, with the box it lives in — what benches and tests learn from.
//
// Level 0 is the cheapest. Functions are deterministic; observation noise is added by MakeDataset (design.h).
// The registry holds every problem under a unique name. Immutable after construction; safe to share between threads.
#ifndef FIDELIO_TESTS_SUPPORT_PROBLEMS_PROBLEM_H_
#define FIDELIO_TESTS_SUPPORT_PROBLEMS_PROBLEM_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/types.h"

namespace fidelio {

// The noise of one level's observations: y = f(x) / (1 + relative_sd·z₁) + sd·z₂ with standard normal z.
struct ObservationNoise {
  double sd = 0;
  double relative_sd = 0;
};

struct Problem {
  std::string name;                      // lower case, unique
  std::string about;                     // one line: what links the levels, and where the problem comes from
  Vector lower;                          // d
  Vector upper;                          // d
  std::vector<double> costs;             // of one evaluation per level, the highest is 1
  std::vector<int> sizes;                // usual number of training points per level
  std::vector<ObservationNoise> noises;  // per level; empty: none
  std::function<double(int level, const Vector& x)> function;

  int dimension() const { return static_cast<int>(lower.size()); }
  int levels() const { return static_cast<int>(costs.size()); }
};

// Every problem, in a fixed order: those of the paper first.
const std::vector<Problem>& AllProblems();

// The problem of that name, or NOT_FOUND naming it.
absl::StatusOr<const Problem*> FindProblem(absl::string_view name);

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_PROBLEMS_PROBLEM_H_
