// ChainPosterior: AR1 (recursive) and NARGP, given their data: level by level, the uncertainty of a level carried to the next.
// The layer of a level is averaged over draws k of its hyperparameters, with weights u_k:
//
//   kLinear      N(m, v) below gives Σ_k u_k N(ρ_k m + m_δk(x), ρ_k² v + v_δk(x))
//   kNonlinear   N(m, v) below gives Σ_k Σ_s u_k w_s N(m_tk(x, f_s), v_tk(x, f_s)),   f_s = m + √v ξ_s   (Gauss–Hermite nodes ξ_s, weights w_s)
//
// For the level above, a mixture counts as the Gaussian with its moments.
//
// Jointly at several inputs, with the correlations R of the level below, a mean that depends on f has (Mehler's formula)
//   cov(m_t(x, f), m_t(x', f')) = Σ_{j≥1} c_j(x) c_j(x') R(x, x')^j,       c_j(x) = Σ_s w_s m_t(x, f_s) H_j(ξ_s),
// and an input that is wanted at a lower level has c_1 = √v and no other: positive semi-definite by Schur's product theorem, also
// across levels. The posterior covariance of the layer itself is averaged over common nodes, everything over the draws. A level is
// predicted from its data and those of the levels below.
#ifndef FIDELIO_CORE_BASELINE_CHAIN_POSTERIOR_H_
#define FIDELIO_CORE_BASELINE_CHAIN_POSTERIOR_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "core/base/equal_rows.h"
#include "core/base/normal_quadrature.h"
#include "core/baseline/baseline_posterior.h"
#include "core/baseline/chain_layer.h"
#include "core/gp/gp_posterior.h"

namespace fidelio {

class ChainPosterior : public BaselinePosterior {
 public:
  ChainPosterior();

  struct LayerDraw {
    std::shared_ptr<const ChainLayer> layer;
    Vector theta;
    double weight = 1;
  };
  // Adds the next level: draws, at least one, of layers with the same observations; their weights sum to 1.
  absl::Status Add(const std::vector<LayerDraw>& draws);
  int levels() const { return static_cast<int>(layers_.size()); }

  // Mean and variance of f_level at the rows of x.
  GpPosterior::Moments Collapsed(const Matrix& x, int level) const;

  // Of draw k and node s: row k·(number of nodes) + s.
  Vector Weights(int level) const override { return layers_[level].component_weight; }
  Gaussians Predict(const Matrix& x, int level) const override;
  Matrix Gradient(const Matrix& x, int level, const Matrix& mean_bar, const Matrix& variance_bar) const override;
  absl::StatusOr<JointGaussian> Joint(const Matrix& x, const std::vector<int>& levels,
                                      const JointOptions& options) const override;
  // NARGP: each sample factorises its own covariance at every level, O(count·n³); AR1: each draw does.
  absl::StatusOr<Matrix> Sample(const Matrix& x, int level, const SampleRequest& request) const override;
  std::unique_ptr<const Functions> Draw(const PathOptions& options) const override;
  absl::StatusOr<LeftOut> LeaveOneOut(const FittedState& state, int level, int threads) const override;
  Vector LogLikelihoods(int stage) const override;
  Vector Noise(int level) const override { return layers_[level].noise; }
  double max_jitter() const override;
  int64_t FactorBytes() const override;

 private:
  class Paths;
  struct Part {
    GpPosterior posterior;
    double rho = 0;
    Vector variance;  // N, of the noise of the observations
  };
  struct Layer {
    LayerKind kind;
    std::vector<Part> parts;  // one per draw
    Vector weight;            // of those
    Vector component_weight;  // of those and the nodes
    Vector noise;             // learned, of draws and nodes
    Matrix x;                 // N×d, of the observations
    Vector y;                 // N
    EqualRows copies;         // of the observations
  };
  // The Gaussians that a level predicts, and the moments of the level below that they come from.
  struct Passage {
    Vector below_mean, below_variance;
    Gaussians of;
  };

  const NormalQuadrature& Rule(int level) const {
    return layers_[level].kind == LayerKind::kNonlinear ? nodes_ : single_;
  }
  // The layer's inputs: x, and below it the nodes of N(m, v), one block of rows per node.
  Matrix Inputs(int level, const Matrix& x, const Vector& m, const Vector& v) const;
  Passage Pass(int level, const Matrix& x, GpPosterior::Moments below) const;
  std::vector<Passage> Climb(const Matrix& x, int level) const;
  GpPosterior::Moments Moments(int level, const Gaussians& of) const;

  // The first level, jointly.
  JointGaussian First(const Matrix& x) const;
  // One level up of a joint Gaussian, for the rows whose level is at least `level`.
  absl::Status Lift(int level, const Matrix& x, const std::vector<int>& levels, const JointOptions& options,
                    JointGaussian& joint) const;

  NormalQuadrature nodes_, single_;
  std::vector<Layer> layers_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_CHAIN_POSTERIOR_H_
