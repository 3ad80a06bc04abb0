// L-BFGS (LBFGS++) on an Objective, tolerant of points where the objective can't be evaluated.
#ifndef FIDELIO_CORE_OPTIM_LBFGS_H_
#define FIDELIO_CORE_OPTIM_LBFGS_H_

#include <cstdint>
#include <functional>

#include "core/base/types.h"
#include "core/optim/objective.h"

namespace fidelio {

struct LbfgsOptions {
  int memory = 20;
  int max_iterations = 300;
  double gradient_tolerance = 1e-5;  // on ‖∇f‖
  double value_tolerance = 1e-6;     // on |f_{k−3} − f_k| / max(1, |f|)
};

struct LbfgsResult {
  Vector x;          // the best point seen
  double value = 0;  // +∞ when not even the start could be evaluated
  int64_t evaluations = 0;
  bool converged = false;  // a tolerance was met, or no further descent was possible
  bool stopped = false;    // keep_going returned false
};

// Minimises from `start`. `keep_going` is called before every evaluation with the best value so far, +∞ before the
// first; `evaluated`, if present, is called with the best value after every evaluation.
LbfgsResult MinimiseLbfgs(Objective& objective, const Vector& start, const LbfgsOptions& options,
                          const std::function<bool(double best)>& keep_going,
                          const std::function<void(double best)>& evaluated = nullptr);

}  // namespace fidelio

#endif  // FIDELIO_CORE_OPTIM_LBFGS_H_
