// Target: the log posteriors that a search explores.
//
// A target has structures: forms of one model, each with a layout of parameters and a prior of its own. The search sees them in
// whitened parameters z, θ = prior centre + prior scale · z (ParameterLayout). Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_FIT_TARGET_H_
#define FIDELIO_CORE_FIT_TARGET_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "core/base/types.h"
#include "core/fit/search_state.h"
#include "core/optim/objective.h"
#include "core/param/layout.h"

namespace fidelio {

class Target {
 public:
  virtual ~Target() = default;

  virtual int structures() const = 0;
  virtual const ParameterLayout& parameters(int structure) const = 0;

  // −log posterior as a function of z, with buffers: for one thread. It must not outlive the target.
  virtual std::unique_ptr<Objective> NewObjective(int structure) const = 0;
  // Why that can't be evaluated at z.
  virtual absl::Status FailureAt(int structure, const Vector& z) const = 0;

  // Where the search begins: values of z, the prior's centre first.
  virtual std::vector<Vector> Starts(int structure) const = 0;

  // The lowest level whose data the structure explains. Posterior densities can be compared between structures of the same.
  virtual int FirstLevel(int /*structure*/) const { return 0; }
  // Brings the evidence of modes whose structures leave out levels in line with the others'. modes[0] is the best of all levels.
  virtual absl::Status CompleteEvidence(std::vector<SearchMode>& /*modes*/) const { return absl::OkStatus(); }
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_FIT_TARGET_H_
