// SviTraining: the training of an MF-DGP as it was published (Cutajar et al. 2019), step by step.
//
// Adam on the bound's estimates (svi_elbo.h), in phases (shares of all steps as in the published code, 5,000 : 15,000 : 15,000):
//   settle   rate .003; the roots of all q fixed, small (1e-8 of the prior's, in the highest layer .01·var y), and the highest
//            level's noise at .01·var y
//   widen    rate .001; these free
//   free     rate .001; so are the means of layers between the lowest and the highest, until here those of the level below
// Layer 1's mean begins at the observed outputs, the highest layer's at 0. Hyperparameters are free throughout. All is as in the
// published code (Emukit's multi_fidelity_dgp), the form of the parameters included (svi_model.h), in whose units most of its effect
// lies: it decides how far 35,000 steps of Adam lead.
// The step depends on the state before it alone: a training can be saved between steps and continued to the same bits.
#ifndef FIDELIO_CORE_DGP_SPARSE_SVI_TRAINING_H_
#define FIDELIO_CORE_DGP_SPARSE_SVI_TRAINING_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/dgp/sparse/svi_elbo.h"
#include "core/dgp/sparse/svi_model.h"
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
template <typename Bytes>
void Fields(Bytes& bytes, SviState& state) {
  bytes(state.step, state.phase, state.parameters, state.adam.step, state.adam.first, state.adam.second, state.bound);
}

class SviTraining {
 public:
  SviTraining(std::shared_ptr<const SviModel> model, uint64_t seed, int threads);

  // Where a training begins. θ and noise of the layers of an earlier model replace the usual ones where they are given.
  absl::StatusOr<SviState> Start(const std::vector<Vector>& warm_theta, const std::vector<double>& warm_noise);

  // One step. `fraction`: of the training that is done, 0…1, which says the phase.
  absl::Status Step(double fraction, SviState* state);

  SviElbo& elbo() { return elbo_; }

 private:
  void FixParameters(int phase, Vector& gradient) const;

  std::shared_ptr<const SviModel> model_;
  SviElbo elbo_;
  Vector gradient_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_SPARSE_SVI_TRAINING_H_
