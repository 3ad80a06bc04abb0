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
#include "core/dgp/moments/mf_dgp.h"
#include "core/dgp/moments/mf_dgp_impl.h"
#include "core/emulator/inflation.h"
#include "core/emulator/leave_one_out_weights.h"

namespace fidelio {

using Eigen::Index;

ObservedMixtures MfDgp::Impl::LeftOut(int level) const {
  const Members members = MembersAt(level);
  const Index components = members.component_weights.size(), n = data.levels[level].y.size();
  const EqualRows copies = FindEqualRows(data.levels[level].x);
  ObservedMixtures at{.y = data.levels[level].y,
                      .weight = Matrix(components, n),
                      .mean = Matrix(components, n),
                      .variance = Matrix(components, n),
                      .group = copies.group};
  Matrix log_density(components, copies.copies.empty() ? 0 : n);
  for (size_t k = 0; k < members.draws.size(); ++k) {
    const size_t draw = members.draws[k];
    const MomentModel& structure = *structures[draws[draw].structure];
    const Scaling& scaling = structure.data.scaling;
    const auto own = posteriors[draw].LeaveOneOut(level - structure.recipe.first_level);
    const Index first = members.first_component[k], links = own.mean.rows();
    at.mean.middleRows(first, links) = own.mean.array() * scaling.output_sd + scaling.output_mean;
    at.variance.middleRows(first, links) = own.variance * scaling.output_sd * scaling.output_sd;
    if (log_density.cols() > 0) log_density.middleRows(first, links) = own.log_density;
  }
  for (Index i = 0; i < n; ++i) {
    at.weight.col(i) = log_density.cols() > 0
                           ? WeightsWithout(members.component_weights, log_density.col(i))
                           : WeightsWithout(at.y[i], members.component_weights, at.mean.col(i), at.variance.col(i));
  }
  return at;
}

Inflation MfDgp::Impl::LeftOutInflation() const {
  return InflationOf(Summarise(LeftOut(static_cast<int>(data.levels.size()) - 1)));
}

absl::StatusOr<std::vector<ObservedMixtures>> MfDgp::LeaveOneOutMixtures() const {
  std::vector<ObservedMixtures> result;
  for (int level = 0; level < levels(); ++level) result.push_back(impl_->LeftOut(level));
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
