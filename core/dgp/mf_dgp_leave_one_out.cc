// MfDgp's leave-one-out predictions, from the factorisations that it has.
//
// Given θ, an observation's prediction from the others of its level and those below is exact: with K + noise factorised,
// variance 1/[K⁻¹]_ii and mean y_i − [K⁻¹e]_i/[K⁻¹]_ii. The draws of θ were made with the observation: their weights are
// divided by the density which they give it, truncated importance sampling (Ionides 2008).
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/status_macros.h"
#include "core/dgp/leave_one_out_weights.h"
#include "core/dgp/mf_dgp.h"
#include "core/dgp/mf_dgp_impl.h"

namespace fidelio {

using Eigen::Index;

absl::StatusOr<std::vector<ObservedMixtures>> MfDgp::LeaveOneOutMixtures() const {
  std::vector<ObservedMixtures> result;
  for (int level = 0; level < levels(); ++level) {
    const Impl::Members members = impl_->MembersAt(level);
    const Index components = members.component_weights.size(), n = impl_->data.levels[level].y.size();
    ObservedMixtures at{.y = impl_->data.levels[level].y,
                        .weight = Matrix(components, n),
                        .mean = Matrix(components, n),
                        .variance = Matrix(components, n)};
    for (size_t k = 0; k < members.draws.size(); ++k) {
      const size_t draw = members.draws[k];
      const MomentModel& structure = *impl_->structures[impl_->draws[draw].structure];
      const Scaling& scaling = structure.data.scaling;
      const auto own = impl_->posteriors[draw].LeaveOneOut(level - structure.recipe.first_level);
      at.mean.middleRows(members.first_component[k], own.mean.rows()) =
          own.mean.array() * scaling.output_sd + scaling.output_mean;
      at.variance.middleRows(members.first_component[k], own.mean.rows()) =
          own.variance * scaling.output_sd * scaling.output_sd;
    }
    for (Index i = 0; i < n; ++i) {
      at.weight.col(i) = WeightsWithout(at.y[i], members.component_weights, at.mean.col(i), at.variance.col(i));
    }
    result.push_back(std::move(at));
  }
  return result;
}

absl::StatusOr<std::vector<LeaveOneOut>> MfDgp::LeaveOneOutPredictions() const {
  FIDELIO_ASSIGN_OR_RETURN(const std::vector<ObservedMixtures> mixtures, LeaveOneOutMixtures());
  std::vector<LeaveOneOut> result;
  for (const ObservedMixtures& mixture : mixtures) {
    result.push_back(Summarise(mixture));
    result.back().inflation = impl_->InflationAt(static_cast<int>(result.size()) - 1);
  }
  return result;
}

}  // namespace fidelio
