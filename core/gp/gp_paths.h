// GpPaths: functions drawn from a GpPosterior, which can be evaluated anywhere.
//
// A function f of the prior becomes one of the posterior by Matheron's rule,
//   f(z) + k(z, Z) K⁻¹ (y − f(Z) − e),   e ~ N(0, noise),   K = k(Z, Z) + noise
//
// Over many of them, mean and covariance are exactly the posterior's. The data cost O(N²) per function, an input O(N)
// and what the prior's function costs. Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_GP_GP_PATHS_H_
#define FIDELIO_CORE_GP_GP_PATHS_H_

#include <memory>
#include <vector>

#include "core/base/random.h"
#include "core/base/types.h"
#include "core/gp/gp_posterior.h"

namespace fidelio {

class GpPaths {
 public:
  // A function for each of `random`, whose numbers are used up. `posterior` must outlive this.
  GpPaths(const GpPosterior& posterior, std::vector<Random>& random);

  // At the rows of z, M of them: M × functions.
  Matrix Evaluate(const Matrix& z) const;
  // One of them alone: M.
  Vector Evaluate(const Matrix& z, size_t path) const;

 private:
  const GpPosterior& posterior_;
  std::vector<std::unique_ptr<const GpPriorPath>> prior_;
  Matrix weights_;  // N × functions: K⁻¹ (y − f(Z) − e)
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_GP_GP_PATHS_H_
