// MfDgp's leave-one-out predictions, from the factorisations that it has.
//
// Given θ, an observation's prediction from the others of its level and those below is exact (core/gp/left_out.h); copies are
// left out together. The draws of θ were made with the observation: their weights are divided by the density which they give
// it and its copies, truncated importance sampling (Ionides 2008).
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/equal_rows.h"
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
    const EqualRows copies = FindEqualRows(impl_->data.levels[level].x);
    ObservedMixtures at{.y = impl_->data.levels[level].y,
                        .weight = Matrix(components, n),
                        .mean = Matrix(components, n),
                        .variance = Matrix(components, n),
                        .group = copies.group};
    const Vector sizes = GroupSizes(copies);
    Matrix log_density(components, copies.copies.empty() ? 0 : n);
    for (size_t k = 0; k < members.draws.size(); ++k) {
      const size_t draw = members.draws[k];
      const MomentModel& structure = *impl_->structures[impl_->draws[draw].structure];
      const Scaling& scaling = structure.data.scaling;
      const auto own = impl_->posteriors[draw].LeaveOneOut(level - structure.recipe.first_level);
      at.mean.middleRows(members.first_component[k], own.mean.rows()) =
          own.mean.array() * scaling.output_sd + scaling.output_mean;
      at.variance.middleRows(members.first_component[k], own.mean.rows()) =
          own.variance * scaling.output_sd * scaling.output_sd;
      if (log_density.cols() == 0) continue;
      // Structures have units of their own.
      log_density.middleRows(members.first_component[k], own.mean.rows()) =
          own.log_density.rowwise() - std::log(scaling.output_sd) * sizes.transpose();
    }
    for (Index i = 0; i < n; ++i) {
      at.weight.col(i) = log_density.cols() > 0
                             ? WeightsWithout(members.component_weights, log_density.col(i))
                             : WeightsWithout(at.y[i], members.component_weights, at.mean.col(i), at.variance.col(i));
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
