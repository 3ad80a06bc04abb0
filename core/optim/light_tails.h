// LightTails: coordinates u in which parameters with Student priors have Gaussian tails, for samplers.
//
//   z = u·exp(u²/2ν)    p(z) ∝ |z|^−(ν+1) far out gives p(u) ∝ exp(−u²/2) there;    others: z = u
// A chain in z takes long to come back from a heavy tail, and a step size for its middle does not suit it.
#ifndef FIDELIO_CORE_OPTIM_LIGHT_TAILS_H_
#define FIDELIO_CORE_OPTIM_LIGHT_TAILS_H_

#include <utility>

#include "core/base/types.h"
#include "core/optim/objective.h"

namespace fidelio {

class LightTails {
 public:
  // Per parameter 1/ν of its prior, 0: leave it.
  explicit LightTails(Vector inverse_shapes) : tails_(std::move(inverse_shapes)) {}

  Vector Z(const Vector& u) const;
  Vector U(const Vector& z) const;

  double LogSlopes(const Vector& u) const;  // log |∂z/∂u|: −log p(u) + this is −log p(z)

  // The Hessian at u of −log p(u), given that of −log p(z) at its mode Z(u).
  Matrix Hessian(const Vector& u, const Matrix& z_hessian) const;

  // −log p(u) where `objective` is −log p(z), which must outlive the result.
  class InU;

 private:
  Vector tails_;
};

class LightTails::InU final : public Objective {
 public:
  InU(const LightTails& tails, Objective& objective) : tails_(tails), objective_(objective) {}
  int size() const override { return objective_.size(); }
  bool Evaluate(const Vector& u, double* value, Vector* gradient) override;

 private:
  const LightTails& tails_;
  Objective& objective_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_OPTIM_LIGHT_TAILS_H_
