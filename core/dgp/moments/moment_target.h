// MomentTarget: the log posteriors of moment-matched MF-DGPs of several structures, for a search (core/fit/search.h).
#ifndef FIDELIO_CORE_DGP_MOMENTS_MOMENT_TARGET_H_
#define FIDELIO_CORE_DGP_MOMENTS_MOMENT_TARGET_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/dgp/moments/moment_model.h"
#include "core/fit/search.h"
#include "core/fit/target.h"

namespace fidelio {

// Of hyperparameters and a structure.
using MomentDraw = SearchDraw;

class MomentTarget final : public Target {
 public:
  explicit MomentTarget(std::vector<std::shared_ptr<const MomentModel>> models) : models_(std::move(models)) {}

  const std::vector<std::shared_ptr<const MomentModel>>& models() const { return models_; }

  int structures() const override { return static_cast<int>(models_.size()); }
  const ParameterLayout& parameters(int structure) const override { return models_[structure]->layout.parameters; }
  std::unique_ptr<Objective> NewObjective(int structure) const override;
  absl::Status FailureAt(int structure, const Vector& z) const override;

  // The prior's centre; levels that do not help each other (ρ = 0, vd = 1, no trend in the discrepancy); a nonlinear link; the same
  // with short lengthscales in layer 1 (of the discrepancies where layer 1 is given). With one level: the centre, and short
  // lengthscales.
  std::vector<Vector> Starts(int structure) const override;

  int FirstLevel(int structure) const override { return models_[structure]->recipe.first_level; }

  // A structure that leaves out the lowest levels explains less data. To compare it with the others, its modes' evidence is
  // multiplied by that of the data left out, Z(y_<s) = Z(y) / Z(y_≥s | y_<s), both by Laplace at the best mode of all levels:
  // the second with the parameters of the levels below s held fixed. The curvature there is sharpened by the data above, so that
  // Z(y_<s) comes out too small; kLogOddsAlone makes up for it on average. All structures have the same output scaling.
  absl::Status CompleteEvidence(std::vector<SearchMode>& modes) const override;

 private:
  std::vector<std::shared_ptr<const MomentModel>> models_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_MOMENT_TARGET_H_
