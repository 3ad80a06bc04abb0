// SviElbo: an unbiased estimate of the evidence lower bound of an MF-DGP from a mini-batch, and its gradient.
//
//   Σ_t N_t/B_t Σ_{i in batch} 1/S Σ_s [ −½ log 2πσ_t² − ((y_i − mean)² + var) / 2σ_t² ] − Σ_t KL[q(u_t) ‖ p(u_t)]
//
// with mean and var of layer t at (x_i, f_s), f_s = mean + ξ_s·√(var + 1e-6) of the layer below, ξ ~ N(0, 1) (reparameterised; the
// 1e-6 is the published code's: without it, gradients by variances near 0 are all noise). Levels with at
// most `batch_size` observations are in every batch as a whole. A step's numbers depend on the seed and its number alone.
//
// Work and memory of a step depend on the batch and the inducing points, never on N. Buffers are reused. Not thread-safe.
#ifndef FIDELIO_CORE_DGP_SPARSE_SVI_ELBO_H_
#define FIDELIO_CORE_DGP_SPARSE_SVI_ELBO_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/dgp/sparse/layer_kernel.h"
#include "core/dgp/sparse/node_plan.h"
#include "core/dgp/sparse/svi_model.h"
#include "core/gp/sparse_layer.h"
#include "core/gp/whitening.h"

namespace fidelio {

class SviElbo {
 public:
  SviElbo(std::shared_ptr<const SviModel> model, uint64_t seed, int threads);

  // The estimate of step number `step`, and its gradient.
  absl::StatusOr<double> Evaluate(const Vector& parameters, int64_t step, Vector* gradient);

  // The factor L of layer t's K_ZZ, lower triangular.
  absl::StatusOr<Matrix> Factor(int t, const Vector& parameters);

  // Layer t's q of the whitened v = L⁻¹u.
  struct Whitened {
    Vector mean;
    Matrix root;
  };
  absl::StatusOr<Whitened> Whiten(int t, const Vector& parameters);

  double max_jitter() const { return max_jitter_; }  // relative, beyond the settings', since the construction

 private:
  struct State {
    LayerKernel inducing_kernel, node_kernel;
    Whitening whitening;
    SparseLayer layer;
    Matrix k_zz, k_zp, a, a_bar, k_bar, s, s_bar;
    Vector theta, theta_bar, f, diagonal, m, m_bar, mean_bar, variance_bar;
    double noise_bar = 0;
  };
  void DrawBatch(int64_t step);
  LayerNodes Nodes(int layer, const State& state) const;
  absl::Status FactoriseInducing(int layer, const Vector& parameters);
  absl::Status Forward(int layer, const Vector& parameters);
  double LogLikelihood(int layer, const Vector& parameters);
  void Reverse(int layer, const Vector& parameters, Vector& gradient);

  std::shared_ptr<const SviModel> model_;
  uint64_t seed_;
  int threads_;
  double max_jitter_ = 0;
  std::vector<int> first_;  // of a level in the batch, levels + 1
  std::vector<NodeLayer> nodes_;
  Matrix x_;  // the batch
  Vector y_, noise_;
  std::vector<State> states_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_SPARSE_SVI_ELBO_H_
