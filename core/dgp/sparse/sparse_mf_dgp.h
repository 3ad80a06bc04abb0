// SparseMfDgp: an MF-DGP of sparse variational layers (Cutajar et al. 2019), fitted by VARIATIONAL (VariationalFit) or SVI (SviFit).
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
// for linear links. Samples are functions (DrawPaths), which follow the distribution of the model: layers composed of functions
// (sparse_paths.h).
#ifndef FIDELIO_CORE_DGP_SPARSE_SPARSE_MF_DGP_H_
#define FIDELIO_CORE_DGP_SPARSE_SPARSE_MF_DGP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/export.h"
#include "core/data/dataset.h"
#include "core/emulator/emulator.h"
#include "core/emulator/fit_options.h"
#include "core/emulator/mixture_emulator.h"

namespace fidelio {

// Kinds of sealed bytes (core/base/bytes.h), which also say how the model was fitted.
inline constexpr uint32_t kVariationalMfDgpKind = 40;
inline constexpr uint32_t kSviMfDgpKind = 42;

class FIDELIO_EXPORT SparseMfDgp final : public MixtureEmulator {
 public:
  struct Impl;
  explicit SparseMfDgp(std::unique_ptr<const Impl> impl);
  ~SparseMfDgp() override;

  // Reads what Save() wrote; predicts the same bits on the same machine. DATA_LOSS or INVALID_ARGUMENT otherwise.
  static absl::StatusOr<std::unique_ptr<SparseMfDgp>> Load(absl::string_view bytes, uint32_t kind);

  int levels() const override;
  int input_dimension() const override;
  absl::StatusOr<Prediction> Predict(const Matrix& x, const PredictOptions& options) const override;
  absl::StatusOr<Mixture> PredictMixture(const Matrix& x, const PredictOptions& options) const override;
  absl::StatusOr<Matrix> MixtureGradient(const Matrix& x, const Matrix& mean_bar, const Matrix& variance_bar,
                                         const PredictOptions& options) const override;
  absl::StatusOr<Vector> LogDensity(const Matrix& x, const Vector& y, const PredictOptions& options) const override;
  absl::StatusOr<JointPosterior> JointMomentsAt(const Matrix& x, const std::vector<int>& levels,
                                                const PredictOptions& options) const override;
  absl::StatusOr<Matrix> SamplePaths(const Matrix& x, const SampleOptions& options) const override;
  absl::StatusOr<std::unique_ptr<PathSamples>> DrawPaths(const PathOptions& options) const override;
  // Equals a refit of the observation's layer without it and without the levels above, given hyperparameters, inducing inputs and
  // the layers below, on which its effect remains. How far the model's own q(u) is from the best one is added (SVI, Condition).
  absl::StatusOr<std::vector<ObservedMixtures>> LeaveOneOutMixtures() const override;
  absl::StatusOr<std::vector<LeaveOneOut>> LeaveOneOutPredictions() const override;
  // Returns a SparseMfDgp. Each new observation multiplies its layer's q(u) by its likelihood, and becomes an inducing input
  // where there is none yet; layers below and hyperparameters stay. FAILED_PRECONDITION if the data does not start with the
  // data that the model knows, or a level's noise was learned and is given now, or the other way round.
  absl::StatusOr<std::unique_ptr<Emulator>> Condition(const Dataset& data, int threads) const override;
  std::string Save() const override;

  uint32_t checkpoint_kind() const override;
  const FitReport& report() const override;
  const Dataset& data() const override;
  int64_t MemoryBytes() const override;

  const Impl& impl() const { return *impl_; }  // for fits that start from it

 private:
  class Paths;

  std::unique_ptr<const Impl> impl_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_SPARSE_SPARSE_MF_DGP_H_
