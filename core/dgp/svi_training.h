// SviTraining: the training of an MF-DGP as it was published (Cutajar et al. 2019), step by step.
//
// Adam on the bound's estimates (svi_elbo.h), in phases (shares of all steps as in the published code, 5,000 : 15,000 : 15,000):
//   settle   rate .003; noise and the roots of all q fixed at small values; the mean of layer 1 fixed at the observed outputs; the
//            hyperparameters of upper layers fixed too (not so in the published code)
//   widen    rate .001; noise and roots free
//   free     rate .001; everything free
// Free parameters of q are those of the whitened v, under which Adam needs far fewer steps than under the published code's u; but what
// is fixed is fixed as u, so that the bound is about the marginal likelihood of the means. Layers between the lowest and the highest
// have no observed outputs at their inducing inputs: their means begin at those of the level below, as published, but are free.
// The step depends on the state before it alone: a training can be saved between steps and continued to the same bits.
#ifndef FIDELIO_CORE_DGP_SVI_TRAINING_H_
#define FIDELIO_CORE_DGP_SVI_TRAINING_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/dgp/svi_elbo.h"
#include "core/dgp/svi_model.h"
#include "core/optim/adam.h"

namespace fidelio {

inline constexpr int64_t kPublishedSteps = 35000;

struct SviState {
  int64_t step = 0;  // the one that comes next
  int phase = 0;     // 0 … 2
  Vector parameters;
  AdamState adam;
  double bound = 0;  // running mean of the estimates
};

class SviTraining {
 public:
  SviTraining(std::shared_ptr<const SviModel> model, uint64_t seed, int threads);

  // Where a training begins. θ and noise of the layers of an earlier model replace the usual ones where they are given.
  absl::StatusOr<SviState> Start(const std::vector<Vector>& warm_theta, const std::vector<double>& warm_noise);

  // One step. `fraction`: of the training that is done, 0…1, which says the phase.
  absl::Status Step(double fraction, SviState* state);

  // The space of a state's q.
  SviSpace SpaceOf(int phase) const { return {.inducing_mean = lower_ && phase < 2, .inducing_root = phase < 1}; }

  SviElbo& elbo() { return elbo_; }

 private:
  void FixParameters(int phase, Vector& gradient) const;

  std::shared_ptr<const SviModel> model_;
  bool lower_;  // there is a layer below the highest
  SviElbo elbo_;
  Vector gradient_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_SVI_TRAINING_H_
