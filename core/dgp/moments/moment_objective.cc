#include "core/dgp/moments/moment_objective.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace fidelio {

MomentObjective::MomentObjective(std::shared_ptr<const MomentModel> model) : recursion_(std::move(model)) {
  centres_ = recursion_.model().layout.parameters.Centres();
  scales_ = recursion_.model().layout.parameters.Scales();
}

bool MomentObjective::Evaluate(const Vector& z, double* value, Vector* gradient) {
  const Vector theta = Theta(z);
  if (!recursion_.Forward(theta).ok()) return false;
  max_jitter_ = std::max(max_jitter_, recursion_.jitter());
  Vector g = Vector::Zero(z.size());
  if (gradient != nullptr) {
    recursion_.Reverse(g);
    g = -g;
  }
  *value = recursion_.model().layout.parameters.NegativeLogPrior(theta, g) - recursion_.log_likelihood();
  if (gradient != nullptr) {
    *gradient = g.cwiseProduct(scales_);
    if (!gradient->allFinite()) return false;
  }
  return std::isfinite(*value);
}

}  // namespace fidelio
