// DrawPaths: functions of a mixture of GpPosteriors, each function one of a single component, chosen by the weights.
//
// Over many of them, mean and covariance are the mixture's. Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_BASELINE_DRAW_PATHS_H_
#define FIDELIO_CORE_BASELINE_DRAW_PATHS_H_

#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/types.h"
#include "core/gp/gp_paths.h"
#include "core/gp/gp_posterior.h"

namespace fidelio {

class DrawPaths {
 public:
  // A function for each of `random`, whose numbers are used up. The posteriors, which must outlive this, have these weights,
  // which sum to 1.
  DrawPaths(const std::vector<const GpPosterior*>& posteriors, const Vector& weights, std::vector<Random>& random);

  // At the rows of z, M of them: M × functions.
  Matrix Evaluate(const Matrix& z) const;
  // One of them alone: M.
  Vector Evaluate(const Matrix& z, size_t path) const;

 private:
  std::vector<GpPaths> groups_;                     // one per component that was chosen
  std::vector<std::pair<size_t, size_t>> members_;  // of every function: its group, and its place there
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_DRAW_PATHS_H_
