// MomentObjective: −log p(y|θ) − log prior(θ) of a moment-matched MF-DGP, in whitened parameters z:
// θ = prior centre + prior scale · z.
#ifndef FIDELIO_CORE_DGP_MOMENTS_MOMENT_OBJECTIVE_H_
#define FIDELIO_CORE_DGP_MOMENTS_MOMENT_OBJECTIVE_H_

#include <memory>

#include "core/dgp/moments/moment_recursion.h"
#include "core/optim/objective.h"

namespace fidelio {

class MomentObjective : public Objective {
 public:
  explicit MomentObjective(std::shared_ptr<const MomentModel> model);

  int size() const override { return static_cast<int>(centres_.size()); }
  bool Evaluate(const Vector& z, double* value, Vector* gradient) override;

  Vector Theta(const Vector& z) const { return centres_ + scales_.cwiseProduct(z); }
  Vector Whitened(const Vector& theta) const { return (theta - centres_).cwiseQuotient(scales_); }
  double max_jitter() const override { return max_jitter_; }
  const MomentRecursion& recursion() const { return recursion_; }  // as the last Evaluate left it

 private:
  MomentRecursion recursion_;
  Vector centres_, scales_;
  double max_jitter_ = 0;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_MOMENT_OBJECTIVE_H_
