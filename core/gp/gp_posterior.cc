#include "core/gp/gp_posterior.h"

#include <utility>

#include "core/base/status_macros.h"
#include "core/gp/conditioning.h"
#include "core/linalg/product.h"
#include "core/linalg/triangular.h"

namespace fidelio {

using Eigen::Index;

absl::StatusOr<GpPosterior> GpPosterior::Build(const GpModel& model, const Vector& theta) {
  GpPosterior p;
  p.y_ = model.outputs();
  const Index n = p.y_.size();
  Matrix k(n, n);
  Vector mean, noise;
  model.NewEvaluation()->Forward(theta, k, mean, noise);
  const double diagonal = n == 0 ? 0 : (k.diagonal() + noise).mean();
  Conditioning conditioning;
  FIDELIO_RETURN_IF_ERROR(conditioning.Run(k, mean, p.y_, noise, "covariance of the observations"));
  p.prior_ = model.At(theta);
  p.whitened_ = conditioning.whitened();
  p.alpha_ = conditioning.alpha();
  p.inverse_ = conditioning.inverse_factor();
  p.jitter_ = conditioning.jitter();
  p.noise_ = noise.array() + p.jitter_ * diagonal;
  p.log_likelihood_ = conditioning.log_likelihood();
  return p;
}

Vector GpPosterior::Positive(const Vector& variance, const Vector& prior) const {
  return variance.cwiseMax(1e-14 * prior);
}

GpPosterior::Moments GpPosterior::Predict(const Matrix& z) const {
  const Vector prior = prior_->Variance(z);
  Moments m{.mean = prior_->Mean(z), .variance = prior};
  if (y_.size() == 0) return m;
  const Matrix cross = prior_->WithData(z);
  Matrix half(cross.rows(), cross.cols());
  LowerTimes(inverse_, cross, half);
  m.mean.noalias() += cross.transpose() * alpha_;
  m.variance = Positive(prior - half.colwise().squaredNorm().transpose(), prior);
  return m;
}

Matrix GpPosterior::Gradient(const Matrix& z, const Vector& mean_bar, const Vector& variance_bar) const {
  if (y_.size() == 0) return prior_->InputGradient(z, mean_bar, variance_bar, Matrix(0, z.rows()));
  const Matrix cross = prior_->WithData(z);
  Matrix half(cross.rows(), cross.cols());
  LowerTimes(inverse_, cross, half);
  half *= (-2 * variance_bar).asDiagonal();
  Matrix cross_bar = alpha_ * mean_bar.transpose();
  Multiply({.a = Part::kUpper}, 1, inverse_.transpose(), half, Write::kAdd, cross_bar);
  return prior_->InputGradient(z, mean_bar, variance_bar, cross_bar);
}

Matrix GpPosterior::Covariance(const Matrix& z) const {
  Matrix covariance = prior_->Among(z);
  if (y_.size() == 0 || z.rows() == 0) return covariance;
  const Vector prior = covariance.diagonal();
  const Matrix cross = prior_->WithData(z);
  Matrix half(cross.rows(), cross.cols());
  LowerTimes(inverse_, cross, half);
  SubtractGram(half.transpose(), covariance);
  covariance.triangularView<Eigen::StrictlyUpper>() = covariance.transpose();
  covariance.diagonal() = Positive(covariance.diagonal(), prior);
  return covariance;
}

GpPosterior::LeftOutMoments GpPosterior::LeaveOneOut(int begin, int end, const CopyGroups& copies) const {
  const auto leading = inverse_.topLeftCorner(end, end);
  const Vector alpha = leading.transpose() * whitened_.head(end);
  LeftOut left_out = LeaveOut(leading, whitened_.head(end), alpha, begin, copies);
  return {.mean = y_.segment(begin, end - begin) - left_out.error,
          .variance = std::move(left_out.variance),
          .log_density = std::move(left_out.log_density)};
}

GpPosterior::Moments GpPosterior::PredictWithout(const Matrix& z, const std::vector<std::vector<int>>& groups,
                                                 const std::vector<int>& left_out) const {
  const Vector prior = prior_->Variance(z);
  const Matrix cross = prior_->WithData(z);
  const Matrix half = inverse_ * cross;
  Moments m{.mean = prior_->Mean(z) + cross.transpose() * alpha_,
            .variance = prior - half.colwise().squaredNorm().transpose()};
  std::vector<Matrix> basis(groups.size());
  for (Index j = 0; j < z.rows(); ++j) {
    const std::vector<int>& group = groups[left_out[j]];
    if (group.size() == 1) {
      const auto column = inverse_.col(group[0]);
      const double precision = column.squaredNorm(), c = column.dot(half.col(j));
      m.mean[j] -= c * alpha_[group[0]] / precision;
      m.variance[j] += c * c / precision;
      continue;
    }
    Matrix& q = basis[left_out[j]];
    if (q.size() == 0) q = LeftOutBasis(inverse_, group);
    const Vector c = q.transpose() * half.col(j);
    m.mean[j] -= c.dot(q.transpose() * whitened_);
    m.variance[j] += c.squaredNorm();
  }
  m.variance = Positive(m.variance, prior);
  return m;
}

int64_t GpPosterior::MemoryBytes() const {
  return static_cast<int64_t>(sizeof(double)) * (inverse_.size() + 7 * y_.size());
}

}  // namespace fidelio
