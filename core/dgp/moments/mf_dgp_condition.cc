// MfDgp given more data, without another fit: the draws of its hyperparameters stay, their weights change.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "core/dgp/moments/mf_dgp.h"
#include "core/dgp/moments/mf_dgp_impl.h"
#include "core/emulator/reweigh.h"

namespace fidelio {

void MfDgp::Impl::WeighAnew(const Impl& before, const std::vector<absl::StatusOr<MomentPosterior>>& built,
                            std::vector<MomentDraw>& draws) {
  // log p(new data | old data, θ) of each draw. Structures that leave out the lower levels say nothing about new data there,
  // and are credited with what the others say on average: their weight then changes by the data that both explain.
  const Eigen::Index count = static_cast<Eigen::Index>(draws.size());
  Vector weights = Vector::Zero(count), log_factors = Vector::Zero(count);
  const auto first_level = [&](Eigen::Index i) { return before.structures[draws[i].structure]->recipe.first_level; };
  std::vector<double> log_below(before.data.levels.size(), 0.0);  // per level, of the data below it
  for (size_t t = 1; t < log_below.size(); ++t) {
    double total = 0, sum = 0;
    for (Eigen::Index i = 0; i < count; ++i) {
      if (!built[i].ok() || first_level(i) > 0) continue;
      const int level = static_cast<int>(t);
      total += draws[i].weight;
      sum +=
          draws[i].weight * (built[i]->log_likelihood_below(level) - before.posteriors[i].log_likelihood_below(level));
    }
    if (total > 0) log_below[t] = sum / total;
  }
  for (Eigen::Index i = 0; i < count; ++i) {
    if (!built[i].ok()) continue;
    weights[i] = draws[i].weight;
    log_factors[i] = built[i]->log_likelihood() - before.posteriors[i].log_likelihood() + log_below[first_level(i)];
  }
  if (!(weights.sum() > 0)) return;
  for (Eigen::Index i = 0; i < count; ++i) {
    if (!built[i].ok()) log_factors[i] = log_factors.minCoeff();
  }
  const Vector changed = Reweigh(weights, log_factors);
  for (Eigen::Index i = 0; i < count; ++i) draws[i].weight = changed[i];
}

absl::StatusOr<std::unique_ptr<Emulator>> MfDgp::Condition(const Dataset& data, int threads) const {
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  if (levels() != static_cast<int>(data.levels.size()) || input_dimension() != data.dimension()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("data: %d levels and input dimension %d, but the model has %d levels and dimension %d",
                        data.levels.size(), data.dimension(), levels(), input_dimension()));
  }
  std::vector<std::shared_ptr<const MomentModel>> structures;
  for (const auto& structure : impl_->structures) {
    const int first_level = structure->recipe.first_level;
    if (data.levels[first_level].y.size() == 0) {
      return absl::FailedPreconditionError(
          absl::StrFormat("level %d: no observations, but the model was fitted to some; fit again", first_level));
    }
    ScaledData scaled = ScaleData(data, first_level, structure->data.scaling);
    for (int t = 0; t < scaled.levels(); ++t) {
      if (scaled.learn_noise[t] == structure->data.learn_noise[t]) continue;
      return absl::FailedPreconditionError(absl::StrFormat(
          "level %d: its noise variance was %s by the fit and is %s now; fit again", first_level + t,
          structure->data.learn_noise[t] ? "learned" : "given", scaled.learn_noise[t] ? "to be learned" : "given"));
    }
    structures.push_back(std::make_shared<const MomentModel>(std::move(scaled), structure->recipe));
  }
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<Impl> impl,
                           Impl::Build(data, std::move(structures), impl_->draws, impl_->report, threads, impl_.get()));
  impl->Inflate(impl->LeftOutInflation());
  return std::unique_ptr<Emulator>(new MfDgp(std::move(impl)));
}

}  // namespace fidelio
