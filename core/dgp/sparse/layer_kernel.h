// LayerKernel: the covariance of one layer in the paper's model, between inducing inputs and nodes, with its reverse pass.
//
//   layer 1:  k(x, x')             = vd·κ_δ(x, x')
//   layer t:  k((x, f), (x', f'))  = κ_ρ(x, x')·[ s2·f·f' + vf·exp(−(f−f')² / 2l²) ] + vd·κ_δ(x, x')
//
// κ_ρ and κ_δ have unit variance and a lengthscale per input (RBF in the paper; Matérn works as well). The paper's variance of
// κ_ρ is not a parameter of its own: it only multiplies s2 and vf. θ holds logarithms:
//   layer 1: ℓ_δ (D), vd        layer t: ℓ_ρ (D), ℓ_δ (D), s2, vf, l, vd
//
// A node is an input x, shared by the nodes of a point, with a value of f of its own. Limits: vf = 0 and ℓ_ρ = ∞ is a linear
// link with factor √s2; s2 = vf = 0 ignores the layer below.
#ifndef FIDELIO_CORE_DGP_SPARSE_LAYER_KERNEL_H_
#define FIDELIO_CORE_DGP_SPARSE_LAYER_KERNEL_H_

#include <vector>

#include "core/base/types.h"
#include "core/kernel/kernel_family.h"

namespace fidelio {

struct LayerShape {
  KernelFamily family = KernelFamily::kRbf;
  int dimension = 0;
  bool linked = false;  // to a layer below

  int size() const { return linked ? 2 * dimension + 4 : dimension + 1; }
  int rho() const { return 0; }  // places in θ; those of the link only where there is one
  int delta() const { return linked ? dimension : 0; }
  int linear() const { return 2 * dimension; }
  int nonlinear() const { return 2 * dimension + 1; }
  int link_lengthscale() const { return 2 * dimension + 2; }
  int delta_variance() const { return size() - 1; }
};

// Inputs x (N×D) and the nodes at them: node p lies at row point[p] of x and, in a linked layer, at f[p].
struct LayerNodes {
  const Matrix* x = nullptr;
  const std::vector<int>* point = nullptr;  // null: node p is at row p
  const Vector* f = nullptr;                // of linked layers

  Eigen::Index count() const { return point != nullptr ? static_cast<Eigen::Index>(point->size()) : x->rows(); }
  Eigen::Index row(Eigen::Index node) const { return point != nullptr ? (*point)[node] : node; }
};

// One evaluation of k(Z, nodes), kept for its reverse pass. Buffers are reused. Not thread-safe.
class LayerKernel {
 public:
  // z: M×D; zf: M, of linked layers. Everything given must stay as it is until Reverse.
  void Forward(const LayerShape& shape, const ConstVectorRef& theta, const Matrix& z, const Vector& zf,
               const LayerNodes& nodes, Matrix& k);

  // Given ∂F/∂k (M×n): adds to theta_bar and, in linked layers, zf_bar (M) and f_bar (n).
  void Reverse(const Matrix& k_bar, Eigen::Ref<Vector> theta_bar, Vector& zf_bar, Vector& f_bar);

  // After Reverse: adds ∂F/∂x of the rows of nodes.x to x_bar (N×D).
  void AddInputGradient(Matrix& x_bar) const;

 private:
  struct Part {  // κ of the inputs, and ∂F/∂κ
    Vector inverse_lengthscale;
    Matrix z, x, value, bar;  // z and x divided by the lengthscales
    Eigen::ArrayXd slope;     // ∂κ/∂(squared distance)
  };
  void Evaluate(const ConstVectorRef& log_lengthscales, const Matrix& z, const Matrix& x, Part& part) const;
  static void AddLengthscaleGradient(Part& part, Eigen::Ref<Vector> gradient);

  LayerShape shape_;
  LayerNodes nodes_;
  Part rho_, delta_;
  Matrix kf_;  // vf·exp(…), M×n
  Vector zf_;
  double linear_ = 0, delta_variance_ = 0, lengthscale_ = 1;
};

// k(node, node) of every node: n.
Vector LayerDiagonal(const LayerShape& shape, const ConstVectorRef& theta, const LayerNodes& nodes);

// Given ∂F/∂ of it: adds to theta_bar and f_bar.
void ReverseLayerDiagonal(const LayerShape& shape, const ConstVectorRef& theta, const LayerNodes& nodes,
                          const Vector& diagonal_bar, Eigen::Ref<Vector> theta_bar, Vector& f_bar);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_SPARSE_LAYER_KERNEL_H_
