#include "core/baseline/co_kriging_posterior.h"

#include "core/base/status_macros.h"
#include "core/gp/gp_paths.h"

namespace fidelio {
namespace {

using Eigen::Index;

// Inputs as CoKriging sees them: x and the level.
Matrix WithLevel(const Matrix& x, int level) {
  Matrix z(x.rows(), x.cols() + 1);
  z.leftCols(x.cols()) = x;
  z.rightCols(1).setConstant(level);
  return z;
}

}  // namespace

absl::StatusOr<std::unique_ptr<const ScaledPosterior>> CoKrigingPosterior::Build(const CoKriging& model,
                                                                                 const Vector& theta) {
  FIDELIO_ASSIGN_OR_RETURN(GpPosterior posterior, GpPosterior::Build(model, theta));
  std::unique_ptr<CoKrigingPosterior> result(new CoKrigingPosterior(std::move(posterior)));
  result->offset_ = model.data().offset;
  for (int t = 0; t < model.data().levels(); ++t) result->noise_.push_back(model.Noise(theta, t));
  return result;
}

ScaledPosterior::Gaussians CoKrigingPosterior::Predict(const Matrix& x, int level) const {
  const GpPosterior::Moments m = posterior_.Predict(WithLevel(x, level));
  return {.mean = m.mean.transpose(), .variance = m.variance.transpose()};
}

Matrix CoKrigingPosterior::Gradient(const Matrix& x, int level, const Matrix& mean_bar,
                                    const Matrix& variance_bar) const {
  return posterior_.Gradient(WithLevel(x, level), mean_bar.row(0), variance_bar.row(0)).leftCols(x.cols());
}

absl::StatusOr<ScaledPosterior::JointGaussian> CoKrigingPosterior::Joint(
    const Matrix& x, const std::vector<int>& levels, const std::function<absl::Status()>& check) const {
  Matrix z = WithLevel(x, 0);
  for (size_t i = 0; i < levels.size(); ++i) z(static_cast<Index>(i), x.cols()) = levels[i];
  if (check) FIDELIO_RETURN_IF_ERROR(check());
  JointGaussian joint{.mean = posterior_.Predict(z).mean, .covariance = {}};
  if (check) FIDELIO_RETURN_IF_ERROR(check());
  joint.covariance = posterior_.Covariance(z);
  return joint;
}

absl::StatusOr<Matrix> CoKrigingPosterior::Sample(const Matrix& x, int level, int count, uint64_t seed, int) const {
  FIDELIO_ASSIGN_OR_RETURN(JointGaussian joint, Joint(x, std::vector<int>(x.rows(), level), nullptr));
  return SampleGaussian(std::move(joint), count, seed);
}

std::unique_ptr<const ScaledPaths> CoKrigingPosterior::Draw(int level, std::vector<Random> random) const {
  class Paths : public ScaledPaths {
   public:
    Paths(const GpPosterior& posterior, int level, std::vector<Random> random)
        : level_(level), paths_(posterior, random) {}
    Matrix Evaluate(const Matrix& x) const override { return paths_.Evaluate(WithLevel(x, level_)); }

   private:
    const int level_;
    const GpPaths paths_;
  };
  return std::make_unique<Paths>(posterior_, level, std::move(random));
}

ScaledPosterior::Gaussians CoKrigingPosterior::LeaveOneOut(int level) const {
  const GpPosterior::Moments m = posterior_.LeaveOneOut(offset_[level], offset_[level + 1]);
  return {.mean = m.mean.transpose(), .variance = m.variance.transpose()};
}

}  // namespace fidelio
