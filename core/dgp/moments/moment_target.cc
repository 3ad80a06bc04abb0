#include "core/dgp/moments/moment_target.h"

#include <cmath>

#include "core/base/status_macros.h"
#include "core/dgp/moments/moment_objective.h"
#include "core/dgp/moments/moment_recursion.h"
#include "core/optim/laplace.h"

namespace fidelio {

std::unique_ptr<Objective> MomentTarget::NewObjective(int structure) const {
  return std::make_unique<MomentObjective>(models_[structure]);
}

absl::Status MomentTarget::FailureAt(int structure, const Vector& z) const {
  return MomentRecursion(models_[structure]).Forward(parameters(structure).Theta(z));
}

std::vector<Vector> MomentTarget::Starts(int structure) const {
  const MomentModel& model = *models_[structure];
  const MomentLayout& layout = model.layout;
  const Vector centres = layout.parameters.Centres();
  const int d = model.data.dimension();
  Vector decoupled = centres, nonlinear = centres;
  for (size_t t = 1; t <= layout.upper.size(); ++t) {
    const UpperLayerOffsets& o = layout.upper[t - 1];
    decoupled[o.rho] = 0;
    decoupled[o.delta] = 0;
    if (layout.trend[t] >= 0) decoupled[layout.trend[t]] = 0;
    nonlinear[o.linear] = nonlinear[o.nonlinear] = kLogLinkStart;
  }
  Vector wiggly = nonlinear;
  if (!layout.learns_first()) {
    for (const UpperLayerOffsets& o : layout.upper) wiggly.segment(o.delta_lengthscale, d).array() -= kLogShorter;
  } else {
    wiggly.segment(layout.first.lengthscale, d).array() -= kLogShorter;
    for (const UpperLayerOffsets& o : layout.upper) {  // undoes the tie to layer 1
      wiggly.segment(o.rho_lengthscale, d).array() += model.recipe.tie * kLogShorter;
      wiggly.segment(o.delta_lengthscale, d).array() += model.recipe.tie * kLogShorter;
    }
  }
  std::vector<Vector> starts = {centres, wiggly};
  if (!layout.upper.empty()) starts = {centres, decoupled, nonlinear, wiggly};
  for (Vector& start : starts) start = layout.parameters.Whitened(start);
  return starts;
}

absl::Status MomentTarget::CompleteEvidence(std::vector<SearchMode>& modes) const {
  const SearchMode& best = modes[0];
  const MomentModel& whole = *models_[best.structure];
  const ParameterLayout& parameters = whole.layout.parameters;
  const Vector theta = parameters.Theta(best.z);
  MomentRecursion recursion(models_[best.structure]);
  FIDELIO_RETURN_IF_ERROR(recursion.Forward(theta));
  for (SearchMode& mode : modes) {
    const int s = FirstLevel(mode.structure);
    if (s == 0) continue;
    const int begin = whole.layout.Begin(s);
    const int size = parameters.size() - begin;
    FIDELIO_ASSIGN_OR_RETURN(const Curvature curvature, MeasureCurvature(best.hessian.bottomRightCorner(size, size)));
    const double upper = LaplaceEvidence(
        recursion.log_likelihood() - recursion.log_likelihood_below(s) + parameters.LogPriorFrom(begin, theta),
        curvature.values);
    mode.log_evidence += best.log_evidence - upper + kLogOddsAlone;
  }
  return absl::OkStatus();
}

}  // namespace fidelio
