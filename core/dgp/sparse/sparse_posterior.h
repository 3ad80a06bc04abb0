// SparsePosterior: the layers of a fitted variational MF-DGP, and what they predict, in standardised units.
//
//   a = L⁻¹ k(Z, z*)      mean = aᵀm      var = k(z*, z*) − ‖a‖² + ‖Sᵀa‖²          q(v) = N(m, S Sᵀ), u = L v
//
// A prediction at level t averages over the nodes of the layers below (node_plan.h). Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_DGP_SPARSE_SPARSE_POSTERIOR_H_
#define FIDELIO_CORE_DGP_SPARSE_SPARSE_POSTERIOR_H_

#include <vector>

#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/dgp/sparse/layer_kernel.h"
#include "core/dgp/sparse/node_plan.h"

namespace fidelio {

// What is learned of a layer.
struct SparseLayerState {
  LayerShape shape;
  Vector theta;
  Matrix z;           // M×D
  Vector zf;          // M, of linked layers
  double jitter = 0;  // relative, on the diagonal of k(Z, Z)
  Vector m;           // M
  Matrix root;        // S, M×M
  double noise = 0;   // variance of an observation; 0 where it is given
};
// The rest of the shape follows from the data.
template <typename Bytes>
void Fields(Bytes& bytes, SparseLayerState& layer) {
  bytes(layer.shape.family, layer.theta, layer.z, layer.zf, layer.jitter, layer.m, layer.root, layer.noise);
}

class SparsePosterior {
 public:
  // INTERNAL where a layer's k(Z, Z) can't be factorised.
  static absl::StatusOr<SparsePosterior> Build(std::vector<SparseLayerState> layers);

  int levels() const { return static_cast<int>(layers_.size()); }
  const SparseLayerState& layer(int t) const { return layers_[t].state; }
  const Matrix& inverse_factor(int t) const { return layers_[t].inverse; }  // L⁻¹
  const Vector& nugget(int t) const { return layers_[t].nugget; }           // M: what L Lᵀ has beyond k(Z, Z)

  // What the layers 0 … `level` say at all nodes of scaled inputs x. `plan` must outlive it.
  class Evaluation {
   public:
    Evaluation(const SparsePosterior& posterior, const Matrix& x, const NodePlan& plan, int level);

    const Vector& f(int layer) const { return at_[layer].f; }  // inputs of the nodes, of linked layers
    const Vector& mean(int layer) const { return at_[layer].mean; }
    const Vector& variance(int layer) const { return at_[layer].variance; }
    const Matrix& a(int layer) const { return at_[layer].a; }        // M×nodes
    const Vector& rest(int layer) const { return at_[layer].rest; }  // k(z*, z*) − ‖a‖², not negative

    // Given ∂F/∂ the means and variances of layer `level`: ∂F/∂x, n×D. Once.
    Matrix Gradient(const Vector& mean_bar, const Vector& variance_bar);

   private:
    struct Layer {
      LayerKernel kernel;
      LayerNodes nodes;
      Matrix k, a, half;  // half: Sᵀa
      Vector f, mean, variance, rest;
    };
    const SparsePosterior& posterior_;
    const Matrix& x_;
    const NodePlan& plan_;
    int level_;
    std::vector<Layer> at_;
  };

  // What layer t says at rows of x, with f where it is linked.
  struct Moments {
    Vector mean, variance;
  };
  Moments LayerMoments(int t, const Matrix& x, const Vector& f) const;

  // The covariance of layer t at given inputs (rows of x, with f where it is linked), conditional on f: n×n.
  Matrix LayerCovariance(int t, const Matrix& x, const Vector& f) const;

 private:
  struct Layer {
    SparseLayerState state;
    Matrix inverse;
    Vector nugget;
  };
  std::vector<Layer> layers_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_SPARSE_SPARSE_POSTERIOR_H_
