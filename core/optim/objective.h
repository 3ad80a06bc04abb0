// Objective: a function to be minimised, with its gradient. Optimisers and samplers see only this.
#ifndef FIDELIO_CORE_OPTIM_OBJECTIVE_H_
#define FIDELIO_CORE_OPTIM_OBJECTIVE_H_

#include "core/base/types.h"

namespace fidelio {

class Objective {
 public:
  virtual ~Objective() = default;

  virtual int size() const = 0;

  // Value and, where `gradient` is not null, gradient at x. False where the function can't be evaluated (then the
  // outputs are undefined): a step there is refused. Never returns non-finite numbers with true.
  virtual bool Evaluate(const Vector& x, double* value, Vector* gradient) = 0;

  // The largest relative jitter that a factorisation has needed so far.
  virtual double max_jitter() const { return 0; }
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_OPTIM_OBJECTIVE_H_
