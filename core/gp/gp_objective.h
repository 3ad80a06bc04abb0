// GpObjective: −log p(y|θ) − log prior(θ) of a GpModel, in whitened parameters z: θ = prior centre + prior scale · z.
#ifndef FIDELIO_CORE_GP_GP_OBJECTIVE_H_
#define FIDELIO_CORE_GP_GP_OBJECTIVE_H_

#include <memory>

#include "absl/status/status.h"
#include "core/gp/conditioning.h"
#include "core/gp/gp_model.h"
#include "core/optim/objective.h"

namespace fidelio {

class GpObjective : public Objective {
 public:
  // The model must outlive this.
  explicit GpObjective(const GpModel& model);

  int size() const override { return static_cast<int>(centres_.size()); }
  bool Evaluate(const Vector& z, double* value, Vector* gradient) override;

  Vector Theta(const Vector& z) const { return centres_ + scales_.cwiseProduct(z); }
  Vector Whitened(const Vector& theta) const { return (theta - centres_).cwiseQuotient(scales_); }
  const absl::Status& status() const { return status_; }  // why the last Evaluate said no

 private:
  const GpModel& model_;
  std::unique_ptr<GpEvaluation> evaluation_;
  Conditioning conditioning_;
  Vector centres_, scales_, mean_, noise_, mean_bar_;
  Matrix k_, k_bar_;
  absl::Status status_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_GP_GP_OBJECTIVE_H_
