#include "core/gp/gp_objective.h"

#include <cmath>

namespace fidelio {

GpObjective::GpObjective(const GpModel& model)
    : model_(model),
      evaluation_(model.NewEvaluation()),
      centres_(model.parameters().Centres()),
      scales_(model.parameters().Scales()) {}

bool GpObjective::Evaluate(const Vector& z, double* value, Vector* gradient) {
  const Vector theta = Theta(z);
  const Vector& y = model_.outputs();
  k_.resize(y.size(), y.size());
  evaluation_->Forward(theta, k_, mean_, noise_);
  status_ = conditioning_.Run(k_, mean_, y, noise_, "covariance of the observations");
  if (!status_.ok()) return false;
  Vector g = Vector::Zero(z.size());
  if (gradient != nullptr && y.size() > 0) {
    k_bar_.resize(y.size(), y.size());
    mean_bar_.resize(y.size());
    conditioning_.Reverse(-1, Matrix(0, 0), Vector(0), k_bar_, mean_bar_);
    evaluation_->Reverse(k_bar_, mean_bar_, g);
  }
  *value = model_.parameters().NegativeLogPrior(theta, g) - conditioning_.log_likelihood();
  if (gradient != nullptr) {
    *gradient = g.cwiseProduct(scales_);
    if (!gradient->allFinite()) return false;
  }
  return std::isfinite(*value);
}

}  // namespace fidelio
