// SparsePaths: functions drawn from a SparsePosterior, which can be evaluated anywhere.
//
//   f_1(x) = g_1(x),   f_t(x) = g_t(x, f_{t−1}(x)),     g_t(z) = p(z) + k(z, Z) L⁻ᵀ (v − L⁻¹(p(Z) + e)),    v ~ N(m, S Sᵀ)
//
// with a path p of layer t's prior (kernel/spectral_path for every term of its kernel) and e ~ N(0, nugget): Matheron's rule with
// the inducing variables u = L v instead of data. Given its input, g_t has exactly the mean and the covariance of the layer,
// so that f_t follows the law of the model: its marginals are those of predictions, up to their nodes.
//
// Evaluating P paths at n points costs O(n P (M D + W D)), W waves per term. Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_DGP_SPARSE_SPARSE_PATHS_H_
#define FIDELIO_CORE_DGP_SPARSE_SPARSE_PATHS_H_

#include <optional>
#include <vector>

#include "core/base/random.h"
#include "core/base/types.h"
#include "core/dgp/sparse/sparse_posterior.h"
#include "core/kernel/spectral_path.h"

namespace fidelio {

class SparsePaths {
 public:
  // A path of f_level for each of `random`. `posterior` must outlive this.
  SparsePaths(const SparsePosterior& posterior, int level, std::vector<Random> random);

  // At the rows of x (n×D, scaled), in standardised units: n × paths.
  Matrix Evaluate(const Matrix& x) const;

 private:
  // A path of a layer's prior; `slope` and `wave` of linked layers only.
  struct Prior {
    SpectralPath own;                   // of k_delta
    std::optional<SpectralPath> slope;  // of k_rho, times f
    std::optional<SpectralPath> wave;   // of k_rho·k_f
  };
  // Inputs divided by lengthscales.
  struct Inputs {
    Matrix own, rho;
  };
  struct Layer {
    std::vector<Prior> priors;  // per path
    Matrix weights;             // M × paths: L⁻ᵀ (v − L⁻¹(p(Z) + e))
  };

  static Inputs InputsAt(const SparseLayerState& state, const Matrix& x);
  static Vector Evaluate(const SparseLayerState& state, const Prior& prior, const Inputs& inputs,
                         const ConstVectorRef& f);

  const SparsePosterior& posterior_;
  std::vector<Layer> layers_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_SPARSE_SPARSE_PATHS_H_
