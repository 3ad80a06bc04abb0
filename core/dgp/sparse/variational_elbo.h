// VariationalElbo: the evidence lower bound of an MF-DGP with sparse variational layers, and its gradient.
//
//   ELBO = Σ_t Σ_i E_{q(f_{t−1}(x_i))} [ −½ log 2πσ_t² − ((y_i − mean)² + var) / 2σ_t² ] − Σ_t KL[q(v_t) ‖ N(0, I)]
//
// The expectations are sums over nodes (node_plan.h); mean and var are those of layer t at a node (site_layer.h). With one level
// it is Titsias' collapsed bound: the exact marginal likelihood where every input is an inducing input. Gradients are exact, by
// a reverse pass through all layers, inducing inputs included. Buffers are reused. Not thread-safe: one per thread.
#ifndef FIDELIO_CORE_DGP_SPARSE_VARIATIONAL_ELBO_H_
#define FIDELIO_CORE_DGP_SPARSE_VARIATIONAL_ELBO_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/dgp/sparse/layer_kernel.h"
#include "core/dgp/sparse/variational_model.h"
#include "core/gp/site_layer.h"
#include "core/gp/whitening.h"

namespace fidelio {

class VariationalElbo {
 public:
  explicit VariationalElbo(std::shared_ptr<const VariationalModel> model, double jitter = 1e-9, int threads = 1);

  // At `parameters` (model.size). An error where a layer can't be factorised.
  absl::StatusOr<double> Evaluate(const Vector& parameters, Vector* gradient);

  // After Evaluate: the expected log likelihood of level 2, by nodes as in the bound, and in closed form (psi_statistics.h), which
  // has no error of quadrature. Needs two levels.
  struct SecondLevel {
    double by_nodes = 0, closed_form = 0;
  };
  SecondLevel SecondLevelLikelihood(const Vector& parameters);

  // After Evaluate with a gradient: the sites that a natural-gradient step of length 1 takes layer t's q to, in the place of
  // the sites in `parameters`, moved by `step` from where they are.
  void MoveSites(double step, Vector* parameters) const;

  double max_jitter() const { return max_jitter_; }  // relative, beyond the jitter given, since the construction

  // Of the last Evaluate.
  const Vector& inducing_f(int layer) const { return states_[layer].zf; }
  const Whitening& whitening(int layer) const { return states_[layer].whitening; }
  const SiteLayer& sites(int layer) const { return states_[layer].sites; }
  const VariationalModel& model() const { return *model_; }

 private:
  struct State {
    LayerKernel inducing_kernel, node_kernel;
    Whitening whitening;
    SiteLayer sites;
    Matrix k_zz, k_zp, a, a_bar, k_bar;
    Vector zf, f, diagonal, precision, target;
    Vector mean_bar, variance_bar;  // from this layer's observations and the layers above
    Vector upper_mean_bar, upper_variance_bar;
  };
  LayerNodes Nodes(int layer, const State& state) const;
  absl::Status Forward(int layer, const Vector& parameters);
  double LogLikelihood(int layer, const Vector& parameters, Vector* gradient);
  void Reverse(int layer, const Vector& parameters, Vector& gradient);

  std::shared_ptr<const VariationalModel> model_;
  double jitter_;
  int threads_;
  double max_jitter_ = 0;
  std::vector<State> states_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_SPARSE_VARIATIONAL_ELBO_H_
