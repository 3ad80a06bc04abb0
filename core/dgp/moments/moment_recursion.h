// MomentRecursion: the moment-matched likelihood of an MF-DGP and its exact gradient.
//
//   log p(y | θ) = log p(y_1) + log Σ_links w_l Π_{t≥2} N(y_t | mean_t, cov_t + noise)
//
// From level to level: condition on y_t (gp/conditioning), then replace the law of f_{t+1} given f_t by the Gaussian with
// the same moments (link_kernel). Links share layer 1 and the first link kernel. Not thread-safe: one per thread.
#ifndef FIDELIO_CORE_DGP_MOMENTS_MOMENT_RECURSION_H_
#define FIDELIO_CORE_DGP_MOMENTS_MOMENT_RECURSION_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "core/base/types.h"
#include "core/dgp/moments/moment_model.h"
#include "core/gp/conditioning.h"
#include "core/kernel/link_kernel.h"

namespace fidelio {

class MomentRecursion {
 public:
  explicit MomentRecursion(std::shared_ptr<const MomentModel> model);

  // Fails when a covariance can't be factorised; the Status names it.
  absl::Status Forward(const ConstVectorRef& theta);

  // After Forward: adds ∂ log p(y|θ)/∂θ to `gradient`.
  void Reverse(Eigen::Ref<Vector> gradient);

  double log_likelihood() const { return log_likelihood_; }
  double log_likelihood_below(int level) const {
    return level == 0 ? 0 : log_likelihood_to_[level - 1];
  }  // of y_<level
  double jitter() const { return jitter_; }
  const Vector& link_weights() const { return link_weights_; }  // posterior weights of the links given θ, sum 1

  const MomentModel& model() const { return *model_; }
  std::shared_ptr<const MomentModel> shared_model() const { return model_; }
  int links() const { return static_cast<int>(links_); }
  const Conditioning& conditioning(int level, int link) const;
  // Mean and variance of f_{level−1} at the points of levels ≥ level, given y of the levels below; level ≥ 1.
  const Vector& lower_mean(int level, int link) const { return Source(level, link).m; }
  const Vector& lower_variance(int level, int link) const { return Source(level, link).v; }

 private:
  // Level t ≥ 1 under one link: the moments of f_{t−1} at its points, the kernel that they give, the conditioning on y_t.
  struct Node {
    Vector m, v;
    Eigen::ArrayXd c;
    LinkKernel kernel;
    Matrix k;
    Vector mean;
    Conditioning conditioning;
  };
  // What all links of a level share. Level 0 uses the adjoints only.
  struct Level {
    Matrix rho_inputs, delta_inputs;
    LinkInputs inputs;
    Eigen::ArrayXd rho_slope, delta_slope;  // κ'
    Eigen::ArrayXd rho_bar, delta_bar;      // ∂F/∂κ
    LinkScalars scalars;
    LinkScalarGradient scalars_bar;
    Vector trend_diagonal;
    std::vector<Node> nodes;  // per link

    // Reverse pass: ∂F/∂ the prior covariance (as a matrix and as pairs, each counted once) and mean of this level, and
    // ∂F/∂ the covariance and mean of the level below at this level's points.
    Matrix k_bar, c_bar;
    Eigen::ArrayXd pairs_bar, c_bar_pairs;
    Vector mean_bar, m_bar, v_bar;
  };

  const Node& Source(int level, int link) const { return levels_[level].nodes[level == 1 ? 0 : link]; }
  absl::Status ForwardFirst(const ConstVectorRef& theta);
  void ForwardInputs(const ConstVectorRef& theta, int level);
  absl::Status ForwardNode(const ConstVectorRef& theta, int level, int link);
  void ReverseConditioning(int level, double weight, Conditioning& conditioning, Eigen::Ref<Vector> gradient);
  void ReverseKernel(int level, Node& node, const Eigen::ArrayXd& pairs_bar, const ConstVectorRef& diagonal_bar,
                     const Vector& mean_bar);
  void ReverseLink(int link, Eigen::Ref<Vector> gradient);
  void ReverseLevel(int level, Eigen::Ref<Vector> gradient);
  Vector Noise(const ConstVectorRef& theta, int level) const;

  std::shared_ptr<const MomentModel> model_;
  const int links_;
  Vector theta_;
  double log_likelihood_ = 0;
  std::vector<double> log_likelihood_to_;  // per level, of the data up to it
  double jitter_ = 0;
  Vector link_weights_;

  // Layer 1.
  const std::unique_ptr<FirstEvaluation> first_;
  Matrix first_k_;
  Vector first_mean_;
  Conditioning first_conditioning_;
  std::vector<Level> levels_;

  // Adjoints of level 1's kernel, summed over links.
  Eigen::ArrayXd shared_pairs_bar_;
  Vector shared_diagonal_bar_, shared_m_bar_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_MOMENT_RECURSION_H_
