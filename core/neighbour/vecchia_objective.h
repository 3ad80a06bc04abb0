// VecchiaObjective: what the hyperparameters of a neighbour layer minimise, with its exact gradient,
//
//   −Σ_i log N(y_i | mean_i, w_i) − log prior(θ)
//   mean_i = prior mean(x_i) + cᵀ K⁻¹ (y_S − prior mean(S)),   w_i = K(x_i,x_i) + noise − cᵀ K⁻¹ c
//
// over the conditionals of VecchiaSets: S the neighbours of i, K = K_t(S,S) + noise, c = K_t(S,x_i). In whitened parameters z:
// θ = prior centre + prior scale · z. The moments of the levels below stay as they are. Sums are formed in the same order
// whatever the number of threads. One evaluation takes O(count·m³) time. Not thread-safe.
#ifndef FIDELIO_CORE_NEIGHBOUR_VECCHIA_OBJECTIVE_H_
#define FIDELIO_CORE_NEIGHBOUR_VECCHIA_OBJECTIVE_H_

#include <vector>

#include "core/base/types.h"
#include "core/kernel/kernel_family.h"
#include "core/neighbour/neighbour_stack.h"
#include "core/optim/objective.h"

namespace fidelio {

class VecchiaObjective : public Objective {
 public:
  // Of the last level of `stack`, which has data but need not be complete.
  VecchiaObjective(const NeighbourStack& stack, KernelFamily kernel, const std::vector<std::vector<int>>& sets,
                   int threads);

  int size() const override { return layout_.parameters.size(); }
  bool Evaluate(const Vector& z, double* value, Vector* gradient) override;

  const NeighbourLayout& layout() const { return layout_; }
  Vector Theta(const Vector& z) const { return centres_ + scales_.cwiseProduct(z); }
  Vector Whitened(const Vector& theta) const { return (theta - centres_).cwiseQuotient(scales_); }
  void set_kernel(KernelFamily kernel) { kernel_ = kernel; }

  // Of all conditionals at θ; what Evaluate is made of, without the prior.
  double NegativeLogLikelihood(const Vector& theta);

 private:
  // A point, the first, and those it is conditioned on.
  struct Conditional {
    Matrix x;      // (m+1)×D
    Vector y;      // m+1
    Vector noise;  // m+1, given variances
    Vector m, v;   // upper layers: moments of the level below
    Eigen::ArrayXd c;
  };
  struct Scratch;

  bool Sum(const Vector& theta, double* value, Vector* gradient) const;
  bool Add(const Conditional& of, const Vector& theta, const NeighbourParameters& p, Scratch& scratch, double& value,
           Vector* gradient) const;

  KernelFamily kernel_;
  const NeighbourLayout layout_;
  const int threads_;
  Vector centres_, scales_;
  std::vector<Conditional> conditionals_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_VECCHIA_OBJECTIVE_H_
