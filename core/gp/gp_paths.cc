#include "core/gp/gp_paths.h"

namespace fidelio {

using Eigen::Index;

GpPaths::GpPaths(const GpPosterior& posterior, std::vector<Random>& random) : posterior_(posterior) {
  const Index n = posterior_.y_.size();
  weights_.resize(n, static_cast<Index>(random.size()));
  for (size_t i = 0; i < random.size(); ++i) {
    prior_.push_back(posterior_.prior_->Draw(random[i]));
    const Vector e = posterior_.noise_.cwiseSqrt().cwiseProduct(random[i].NormalVector(static_cast<int>(n)));
    const Vector whitened = posterior_.inverse_ * (posterior_.y_ - prior_[i]->AtData() - e);
    weights_.col(static_cast<Index>(i)) = posterior_.inverse_.transpose() * whitened;
  }
}

Matrix GpPaths::Evaluate(const Matrix& z) const {
  Matrix f(z.rows(), weights_.cols());
  for (size_t i = 0; i < prior_.size(); ++i) f.col(static_cast<Index>(i)) = prior_[i]->Evaluate(z);
  if (weights_.rows() > 0) f.noalias() += posterior_.prior_->WithData(z).transpose() * weights_;
  return f;
}

Vector GpPaths::Evaluate(const Matrix& z, size_t path) const {
  Vector f = prior_[path]->Evaluate(z);
  if (weights_.rows() > 0) f.noalias() += posterior_.prior_->WithData(z).transpose() * weights_.col(path);
  return f;
}

}  // namespace fidelio
