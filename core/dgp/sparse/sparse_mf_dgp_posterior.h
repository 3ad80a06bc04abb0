// SparseMfDgpPosterior: an MF-DGP of sparse variational layers (Cutajar et al. 2019), fitted by VARIATIONAL (VariationalFit) or SVI
// (SviFit).
//
//   f_1 ~ GP,   f_t(x) = g_t(x, f_{t−1}(x)),   g_t ~ GP(0, k_ρ·[s2·f·f' + k_f] + k_δ),   y_t = f_t + noise,   q = ∏ q(u_t)
//
// The hyperparameters are point estimates. A prediction at level t is the mixture of the predictions of layer t at the nodes of the layers
// below (node_plan.h): one Gaussian at level 1, nine at level 2, 25 at level 3, 32 above.
//
// Joint moments: with E, Var over the nodes of an input, C and R the covariance and correlation of f_{t−1}, and
// Var[mean] = b²·Var[f_{t−1}] + e² the part that is linear in f_{t−1} and the rest,
//   cov(f_t, f_t') = r·r'·own + b·b'·C + q·q'·curved,    r² = E[var]/own(x, x),    q² = e²/curved(x, x)
// where own and curved take f_{t−1} as Gaussian (sparse_link_average.h): exact on the diagonal, at level 2 (up to the nodes) and
// for linear links. Samples are functions (sparse_paths.h), which follow the distribution of the model: layers composed of functions.
#ifndef FIDELIO_CORE_DGP_SPARSE_SPARSE_MF_DGP_POSTERIOR_H_
#define FIDELIO_CORE_DGP_SPARSE_SPARSE_MF_DGP_POSTERIOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/export.h"
#include "core/dgp/sparse/node_plan.h"
#include "core/dgp/sparse/sparse_posterior.h"
#include "core/emulator/fitted_emulator.h"
#include "core/emulator/posterior.h"

namespace fidelio {

// Kinds of sealed bytes (core/base/bytes.h), which also say how the model was fitted.
inline constexpr uint32_t kVariationalMfDgpKind = 40;
inline constexpr uint32_t kSviMfDgpKind = 42;

// Observations of the highest level up to which inflation is measured: with more, the time would not be small beside the fit's.
inline constexpr int kMostLeftOut = 4096;

class SparseMfDgpPosterior final : public Posterior {
 public:
  SparseMfDgpPosterior(uint32_t kind, SparsePosterior layers);
  // INTERNAL where a layer can't be factorised.
  static absl::StatusOr<std::unique_ptr<const Posterior>> Build(uint32_t kind, std::vector<SparseLayerState> layers);

  const SparsePosterior& layers() const { return layers_; }
  // The nodes of so many inputs of a level.
  std::shared_ptr<const NodePlan> PlanOf(Eigen::Index inputs, int level) const;

  Vector Weights(int level) const override { return weights_[level]; }
  Vector Noise(int level) const override;
  std::unique_ptr<Block> At(Matrix x, int level) const override;
  absl::StatusOr<JointGaussian> Joint(const Matrix& x, const std::vector<int>& levels,
                                      const JointOptions& options) const override;
  absl::StatusOr<Matrix> Sample(const Matrix& x, int level, const SampleRequest& request) const override;
  std::unique_ptr<const Functions> Draw(const PathOptions& options) const override;
  // Equals a refit of the observation's layer without it and without the levels above, given hyperparameters, inducing inputs and
  // the layers below, on which its effect remains. How far the model's own q(u) is from the best one is added (SVI, Condition).
  absl::StatusOr<LeftOut> LeaveOneOut(const FittedState& state, int level, int threads) const override;
  int64_t most_for_inflation() const override { return kMostLeftOut; }
  // Each new observation multiplies its layer's q(u) by its likelihood, and becomes an inducing input where there is none yet; layers
  // below and hyperparameters stay. FAILED_PRECONDITION if the data does not start with the data that the model knows.
  absl::StatusOr<std::unique_ptr<const Posterior>> Condition(const FittedState& before, const Dataset& data,
                                                             int threads) const override;
  std::string Save(const FittedState& state) const override;
  uint32_t checkpoint_kind() const override { return kind_; }
  void Describe(FitReport& report) const override { report.draws = 1; }
  int64_t MemoryBytes(const Dataset& data) const override;

 private:
  uint32_t kind_;
  SparsePosterior layers_;
  // Per level: the plan of a whole block, and the weights of the nodes of an input.
  std::vector<std::shared_ptr<const NodePlan>> plans_;
  std::vector<Vector> weights_;
};

// The layers at the nodes of some inputs of one level. The posterior must outlive it.
class SparseBlock final : public Posterior::Block {
 public:
  SparseBlock(const SparseMfDgpPosterior& posterior, Matrix x, int level);

  Posterior::Gaussians Predict() override;
  Matrix Gradient(const Matrix& mean_bar, const Matrix& variance_bar) override;

  const NodeLayer& nodes() const { return plan_->layers[level_]; }
  const SparsePosterior::Evaluation& at() const { return at_; }
  // The nodes that are components of the mixture, point by point, those of each point in the same order.
  const std::vector<Eigen::Index>& components() const { return components_; }

 private:
  const Matrix x_;
  const int level_;
  const std::shared_ptr<const NodePlan> plan_;
  SparsePosterior::Evaluation at_;
  std::vector<Eigen::Index> components_;
};

// Reads what Save() of such a model wrote; predicts the same bits on the same machine. DATA_LOSS or INVALID_ARGUMENT otherwise.
FIDELIO_EXPORT absl::StatusOr<std::unique_ptr<FittedEmulator>> LoadSparseMfDgp(absl::string_view bytes, uint32_t kind);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_SPARSE_SPARSE_MF_DGP_POSTERIOR_H_
