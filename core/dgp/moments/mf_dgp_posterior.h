// MfDgpPosterior: what an MF-DGP (mf_dgp.h) knows after a fit: a MomentMixture, whose draws are reweighted by their likelihood when data
// are added: good for a few more points; a fit learns more from many.
#ifndef FIDELIO_CORE_DGP_MOMENTS_MF_DGP_POSTERIOR_H_
#define FIDELIO_CORE_DGP_MOMENTS_MF_DGP_POSTERIOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/dgp/moments/mf_dgp.h"
#include "core/dgp/moments/moment_mixture.h"
#include "core/emulator/posterior.h"

namespace fidelio {

// Σ_t n_t Σ_{s≥t} n_s: elements of the factors of all levels of one draw and link.
int64_t FactorElements(const std::vector<int64_t>& counts);

class MfDgpPosterior final : public Posterior {
 public:
  explicit MfDgpPosterior(MomentMixture mixture) : mixture_(std::move(mixture)) {}
  // Of models of the same data; all have one scaling.
  static absl::StatusOr<std::unique_ptr<const Posterior>> Build(
      std::vector<std::shared_ptr<const MomentModel>> structures, std::vector<MomentDraw> draws, int threads);

  const MomentMixture& mixture() const { return mixture_; }

  Vector Weights(int level) const override { return mixture_.MembersAt(level).component_weights; }
  Vector Noise(int level) const override { return mixture_.Noise(level); }
  std::unique_ptr<Block> At(Matrix x, int level) const override;
  absl::StatusOr<JointGaussian> Joint(const Matrix& x, const std::vector<int>& levels,
                                      const JointOptions& options) const override {
    return mixture_.Joint(x, levels, options);
  }
  absl::StatusOr<Matrix> JointColumns(const Matrix& x, const std::vector<int>& levels, const std::vector<int>& columns,
                                      const JointOptions& options) const override {
    return mixture_.JointColumns(x, levels, columns, options);
  }
  absl::StatusOr<Matrix> Sample(const Matrix& x, int level, const SampleRequest& request) const override {
    return mixture_.Sample(x, level, request);
  }
  std::unique_ptr<const Functions> Draw(const PathOptions& options) const override;
  absl::StatusOr<LeftOut> LeaveOneOut(const FittedState&, int level, int) const override {
    return mixture_.LeaveOneOut(level);
  }
  absl::StatusOr<std::unique_ptr<const Posterior>> Condition(const FittedState& before, const Dataset& data,
                                                             int threads) const override;
  std::string Save(const FittedState& state) const override;
  uint32_t checkpoint_kind() const override { return kMfDgpKind; }
  void Describe(FitReport& report) const override { report.draws = static_cast<int>(mixture_.draws().size()); }
  int64_t MemoryBytes(const Dataset& data) const override;

 private:
  MomentMixture mixture_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_MF_DGP_POSTERIOR_H_
