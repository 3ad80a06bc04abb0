#include "core/dgp/sparse/layer_kernel.h"

#include <cmath>

#include "core/kernel/stationary.h"

namespace fidelio {

using Eigen::Index;

void LayerKernel::Evaluate(const ConstVectorRef& log_lengthscales, const Matrix& z, const Matrix& x, Part& part) const {
  part.inverse_lengthscale = (-log_lengthscales.array()).exp();
  part.z = z * part.inverse_lengthscale.asDiagonal();
  part.x = x * part.inverse_lengthscale.asDiagonal();
  CrossDistances(part.z, part.x, part.value);
  EvaluateRadial(shape_.family, Eigen::Map<Eigen::ArrayXd>(part.value.data(), part.value.size()), &part.slope);
}

void LayerKernel::Forward(const LayerShape& shape, const ConstVectorRef& theta, const Matrix& z, const Vector& zf,
                          const LayerNodes& nodes, Matrix& k) {
  shape_ = shape;
  nodes_ = nodes;
  const Index d = shape.dimension, m = z.rows(), n = nodes.count();
  delta_variance_ = std::exp(theta[shape.delta_variance()]);
  Evaluate(theta.segment(shape.delta(), d), z, *nodes.x, delta_);
  k.resize(m, n);
  if (!shape.linked) {
    for (Index p = 0; p < n; ++p) k.col(p) = delta_variance_ * delta_.value.col(nodes.row(p));
    return;
  }
  Evaluate(theta.segment(shape.rho(), d), z, *nodes.x, rho_);
  zf_ = zf;
  linear_ = std::exp(theta[shape.linear()]);
  lengthscale_ = std::exp(theta[shape.link_lengthscale()]);
  const double nonlinear = std::exp(theta[shape.nonlinear()]), half = -0.5 / (lengthscale_ * lengthscale_);
  kf_.resize(m, n);
  for (Index p = 0; p < n; ++p) {
    const double f = (*nodes.f)[p];
    const Index row = nodes.row(p);
    kf_.col(p) = nonlinear * (half * (zf_.array() - f).square()).exp();
    k.col(p) = rho_.value.col(row).array() * ((linear_ * f) * zf_.array() + kf_.col(p).array()) +
               delta_variance_ * delta_.value.col(row).array();
  }
}

void LayerKernel::AddLengthscaleGradient(Part& part, Eigen::Ref<Vector> gradient) {
  // −2 Σ w (z − x)², w = ∂F/∂(squared distance), as products.
  Eigen::Map<Eigen::ArrayXd>(part.bar.data(), part.bar.size()) *= part.slope;
  const Vector rows = part.bar.rowwise().sum(), columns = part.bar.colwise().sum();
  const Matrix weighted = part.bar * part.x;
  for (Index d = 0; d < part.z.cols(); ++d) {
    gradient[d] -=
        2 * ((rows.array() * part.z.col(d).array().square()).sum() +
             (columns.array() * part.x.col(d).array().square()).sum() - 2 * part.z.col(d).dot(weighted.col(d)));
  }
}

void LayerKernel::Reverse(const Matrix& k_bar, Eigen::Ref<Vector> theta_bar, Vector& zf_bar, Vector& f_bar) {
  const Index d = shape_.dimension, n = k_bar.cols();
  delta_.bar.setZero(delta_.value.rows(), delta_.value.cols());
  double variance_bar = 0;
  for (Index p = 0; p < n; ++p) {
    const Index row = nodes_.row(p);
    delta_.bar.col(row) += delta_variance_ * k_bar.col(p);
    variance_bar += k_bar.col(p).dot(delta_.value.col(row));
  }
  theta_bar[shape_.delta_variance()] += delta_variance_ * variance_bar;
  AddLengthscaleGradient(delta_, theta_bar.segment(shape_.delta(), d));
  if (!shape_.linked) return;

  rho_.bar.setZero(rho_.value.rows(), rho_.value.cols());
  double linear_bar = 0, nonlinear_bar = 0, lengthscale_bar = 0;
  Eigen::ArrayXd scaled, curved, distance;
  for (Index p = 0; p < n; ++p) {
    const double f = (*nodes_.f)[p];
    const Index row = nodes_.row(p);
    rho_.bar.col(row).array() += k_bar.col(p).array() * ((linear_ * f) * zf_.array() + kf_.col(p).array());
    scaled = k_bar.col(p).array() * rho_.value.col(row).array();
    curved = scaled * kf_.col(p).array();
    distance = (zf_.array() - f) / lengthscale_;
    const double along = linear_ * (scaled * zf_.array()).sum();
    linear_bar += f * along;
    nonlinear_bar += curved.sum();
    lengthscale_bar += (curved * distance.square()).sum();
    curved *= distance / lengthscale_;
    f_bar[p] += along + curved.sum();
    zf_bar.array() += (linear_ * f) * scaled - curved;
  }
  theta_bar[shape_.linear()] += linear_bar;
  theta_bar[shape_.nonlinear()] += nonlinear_bar;
  theta_bar[shape_.link_lengthscale()] += lengthscale_bar;
  AddLengthscaleGradient(rho_, theta_bar.segment(shape_.rho(), d));
}

void LayerKernel::AddInputGradient(Matrix& x_bar) const {
  for (const Part* part : {&delta_, &rho_}) {
    if (part == &rho_ && !shape_.linked) continue;
    Matrix scaled_bar = Matrix::Zero(part->x.rows(), part->x.cols());
    AccumulateCrossInputGradient(part->z, part->x, part->bar, scaled_bar);  // bar is ∂F/∂(squared distance) by now
    x_bar += scaled_bar * part->inverse_lengthscale.asDiagonal();
  }
}

Vector LayerDiagonal(const LayerShape& shape, const ConstVectorRef& theta, const LayerNodes& nodes) {
  Vector diagonal = Vector::Constant(nodes.count(), std::exp(theta[shape.delta_variance()]));
  if (!shape.linked) return diagonal;
  diagonal.array() += std::exp(theta[shape.nonlinear()]) + std::exp(theta[shape.linear()]) * nodes.f->array().square();
  return diagonal;
}

void ReverseLayerDiagonal(const LayerShape& shape, const ConstVectorRef& theta, const LayerNodes& nodes,
                          const Vector& diagonal_bar, Eigen::Ref<Vector> theta_bar, Vector& f_bar) {
  const double total = diagonal_bar.sum();
  theta_bar[shape.delta_variance()] += std::exp(theta[shape.delta_variance()]) * total;
  if (!shape.linked) return;
  const double linear = std::exp(theta[shape.linear()]);
  theta_bar[shape.nonlinear()] += std::exp(theta[shape.nonlinear()]) * total;
  theta_bar[shape.linear()] += linear * (diagonal_bar.array() * nodes.f->array().square()).sum();
  f_bar.array() += 2 * linear * nodes.f->array() * diagonal_bar.array();
}

}  // namespace fidelio
