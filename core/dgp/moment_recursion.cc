#include "core/dgp/moment_recursion.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/kernel/input_warp.h"
#include "core/kernel/stationary.h"
#include "core/linalg/packed.h"

namespace fidelio {

using Eigen::ArrayXd;
using Eigen::Index;

MomentRecursion::MomentRecursion(std::shared_ptr<const MomentModel> model)
    : model_(std::move(model)), links_(static_cast<int>(model_->recipe.links.size())), levels_(model_->data.levels()) {
  for (size_t t = 1; t < levels_.size(); ++t) {
    levels_[t].nodes.resize(links_);
    levels_[t].inputs.trend = model_->trend_pairs[t];
    if (model_->recipe.trend) {
      levels_[t].trend_diagonal = model_->trend_diagonal.tail(model_->data.rest(static_cast<int>(t)));
    }
  }
}

const Conditioning& MomentRecursion::conditioning(int level, int link) const {
  return level == 0 ? first_conditioning_ : levels_[level].nodes[link].conditioning;
}

Vector MomentRecursion::Noise(const ConstVectorRef& theta, int level) const {
  const ScaledData& data = model_->data;
  return data.noise.segment(data.offset[level], data.count(level)).array() + model_->LearnedNoise(theta, level);
}

absl::Status MomentRecursion::Forward(const ConstVectorRef& theta) {
  theta_ = theta;
  jitter_ = 0;
  FIDELIO_RETURN_IF_ERROR(ForwardFirst(theta));
  log_likelihood_ = first_conditioning_.log_likelihood();
  link_weights_ = Vector::Constant(1, 1.0);
  const int levels = model_->data.levels();
  if (levels == 1) return absl::OkStatus();
  Vector log_weights(links_);
  double total_weight = 0;
  for (int l = 0; l < links_; ++l) {
    log_weights[l] = std::log(model_->recipe.links[l].weight);
    total_weight += model_->recipe.links[l].weight;
  }
  for (int t = 1; t < levels; ++t) {
    ForwardInputs(theta, t);
    for (int l = 0; l < links_; ++l) {
      FIDELIO_RETURN_IF_ERROR(ForwardNode(theta, t, l));
      log_weights[l] += levels_[t].nodes[l].conditioning.log_likelihood();
    }
  }
  const double largest = log_weights.maxCoeff();
  link_weights_ = (log_weights.array() - largest).exp();
  const double sum = link_weights_.sum();
  link_weights_ /= sum;
  log_likelihood_ += largest + std::log(sum / total_weight);
  return absl::OkStatus();
}

absl::Status MomentRecursion::ForwardFirst(const ConstVectorRef& theta) {
  const ScaledData& data = model_->data;
  const double amplitude = std::exp(theta[model_->layout.first.amplitude]);
  first_inputs_ = model_->FirstInputs(theta, data.x);
  PairDistances(first_inputs_, first_kernel_);
  EvaluateRadial(model_->recipe.kernel, first_kernel_, &first_slope_);
  Vector diagonal = Vector::Constant(data.x.rows(), amplitude);
  first_k_.resize(data.x.rows(), data.x.rows());
  if (const double trend = model_->Trend(theta, 0); trend > 0) {
    diagonal += trend * model_->trend_diagonal;
    const ArrayXd pairs = amplitude * first_kernel_ + trend * model_->trend_pairs[0];
    UnpackLower(pairs, diagonal, 1, first_k_);
  } else {
    UnpackLower(first_kernel_, diagonal, amplitude, first_k_);
  }
  FIDELIO_RETURN_IF_ERROR(
      first_conditioning_.Run(first_k_, Vector::Constant(data.x.rows(), theta[model_->layout.first.mean]),
                              data.y.head(data.count(0)), Noise(theta, 0), "covariance of level 0"));
  jitter_ = std::max(jitter_, first_conditioning_.jitter());
  return absl::OkStatus();
}

void MomentRecursion::ForwardInputs(const ConstVectorRef& theta, int t) {
  Level& level = levels_[t];
  const auto x = model_->data.x.bottomRows(model_->data.rest(t));
  const Vector rho_lengthscales = model_->RhoLengthscales(theta, t);
  const Vector delta_lengthscales = model_->DeltaLengthscales(theta, t);
  level.rho_inputs = x * rho_lengthscales.cwiseInverse().asDiagonal();
  level.delta_inputs = x * delta_lengthscales.cwiseInverse().asDiagonal();
  PairDistances(level.rho_inputs, level.inputs.rho_kernel);
  EvaluateRadial(model_->recipe.kernel, level.inputs.rho_kernel, &level.rho_slope);
  PairDistances(level.delta_inputs, level.inputs.delta_kernel);
  EvaluateRadial(model_->recipe.kernel, level.inputs.delta_kernel, &level.delta_slope);
  level.scalars = model_->Scalars(theta, t);
}

absl::Status MomentRecursion::ForwardNode(const ConstVectorRef& theta, int t, int l) {
  const ScaledData& data = model_->data;
  const int rest = data.rest(t);
  Level& level = levels_[t];
  Node& node = level.nodes[l];
  if (t > 1 || l == 0) {
    const Conditioning& below = conditioning(t - 1, l);
    const Matrix& k_below = t == 1 ? first_k_ : levels_[t - 1].nodes[l].k;
    const auto c = k_below.bottomRightCorner(rest, rest);
    node.m = below.mean_rest();
    node.v = c.diagonal();
    PackPairs(c, 1, node.c);
    node.kernel.Forward(level.scalars, level.inputs, level.trend_diagonal, node.m, node.v, node.c);
  }
  const Node& source = Source(t, l);
  const Link& link = model_->recipe.links[l];
  node.k.resize(rest, rest);
  UnpackLower(source.kernel.pairs(), source.kernel.diagonal(), 1, node.k);
  if (link.offset) node.k.array() += model_->Offset(theta, t);
  const double rho = level.scalars.rho;
  node.mean = (rho * source.m.array() + (1 - rho) * (link.raw_zero ? data.raw_zero : 0.0));
  FIDELIO_RETURN_IF_ERROR(node.conditioning.Run(node.k, node.mean, data.y.segment(data.offset[t], data.count(t)),
                                                Noise(theta, t), absl::StrCat("covariance of level ", t)));
  jitter_ = std::max(jitter_, node.conditioning.jitter());
  return absl::OkStatus();
}

void MomentRecursion::Reverse(Eigen::Ref<Vector> gradient) {
  const int levels = model_->data.levels();
  if (levels > 1) {
    const int rest = model_->data.rest(1);
    shared_pairs_bar_.setZero(PairCount(rest));
    shared_diagonal_bar_.setZero(rest);
    shared_m_bar_.setZero(rest);
    for (int t = 1; t < levels; ++t) {
      Level& level = levels_[t];
      level.rho_bar.setZero(level.inputs.rho_kernel.size());
      level.delta_bar.setZero(level.inputs.delta_kernel.size());
      level.scalars_bar = {};
    }
    for (int l = 0; l < links_; ++l) ReverseLink(l, gradient);
    Level& level = levels_[1];
    Node& node = level.nodes[0];
    node.kernel.Reverse(level.inputs, level.trend_diagonal, node.m, node.v, node.c, shared_pairs_bar_,
                        shared_diagonal_bar_, level.rho_bar, level.delta_bar, level.scalars_bar, m_bar_, v_bar_,
                        c_bar_pairs_);
    m_bar_ += shared_m_bar_;
    c_bar_.resize(rest, rest);
    UnpackSymmetric(c_bar_pairs_, v_bar_, 0.5, c_bar_);
    for (int t = 1; t < levels; ++t) ReverseLevel(t, gradient);
  } else {
    c_bar_.resize(0, 0);
    m_bar_.resize(0);
  }
  ReverseFirst(gradient);
}

// From the top level down to level 1 under one link; what reaches level 1's kernel is added to the shared adjoints.
void MomentRecursion::ReverseLink(int l, Eigen::Ref<Vector> gradient) {
  const ScaledData& data = model_->data;
  const Link& link = model_->recipe.links[l];
  const double zero = link.raw_zero ? data.raw_zero : 0.0;
  c_bar_.resize(0, 0);
  m_bar_.resize(0);
  for (int t = data.levels() - 1; t >= 1; --t) {
    Level& level = levels_[t];
    Node& node = level.nodes[l];
    const Node& source = Source(t, l);
    const int rest = data.rest(t);
    k_bar_.resize(rest, rest);
    mean_bar_.resize(rest);
    node.conditioning.Reverse(link_weights_[l], c_bar_, m_bar_, k_bar_, mean_bar_);
    if (const int at = model_->layout.noise[t]; at >= 0) {
      gradient[at] += k_bar_.diagonal().head(data.count(t)).sum() * 2 * std::exp(2 * theta_[at]);
    }
    PackPairs(k_bar_, 2, pairs_bar_);
    if (link.offset) {
      gradient[model_->layout.upper[t - 1].offset] +=
          model_->Offset(theta_, t) * (pairs_bar_.sum() + k_bar_.diagonal().sum());
    }
    level.scalars_bar.rho += mean_bar_.dot(source.m) - zero * mean_bar_.sum();
    const double rho = level.scalars.rho;
    if (t == 1) {
      shared_pairs_bar_ += pairs_bar_;
      shared_diagonal_bar_ += k_bar_.diagonal();
      shared_m_bar_ += rho * mean_bar_;
      return;
    }
    node.kernel.Reverse(level.inputs, level.trend_diagonal, node.m, node.v, node.c, pairs_bar_, k_bar_.diagonal(),
                        level.rho_bar, level.delta_bar, level.scalars_bar, m_bar_, v_bar_, c_bar_pairs_);
    m_bar_ += rho * mean_bar_;
    c_bar_.resize(rest, rest);
    UnpackSymmetric(c_bar_pairs_, v_bar_, 0.5, c_bar_);
  }
}

// The hyperparameters of level t, once all links have added to its adjoints.
void MomentRecursion::ReverseLevel(int t, Eigen::Ref<Vector> gradient) {
  Level& level = levels_[t];
  const UpperLayerOffsets& o = model_->layout.upper[t - 1];
  gradient[o.linear] += level.scalars_bar.linear;
  gradient[o.nonlinear] += level.scalars_bar.nonlinear;
  gradient[o.nonlinear_lengthscale] += level.scalars_bar.log_lengthscale;
  gradient[o.delta] += level.scalars_bar.delta;
  gradient[o.rho] += level.scalars_bar.rho;
  if (const int at = model_->layout.trend[t]; at >= 0) gradient[at] += level.scalars_bar.trend;
  const int d = model_->data.dimension();
  auto first = gradient.segment(model_->layout.first.lengthscale, d);
  level.rho_bar *= level.rho_slope;
  level.delta_bar *= level.delta_slope;
  Vector lengthscale_bar = Vector::Zero(d);
  AccumulatePairLengthscaleGradient(level.rho_inputs, level.rho_bar, lengthscale_bar);
  gradient.segment(o.rho_lengthscale, d) += lengthscale_bar;
  first += model_->recipe.tie * lengthscale_bar;
  lengthscale_bar.setZero();
  AccumulatePairLengthscaleGradient(level.delta_inputs, level.delta_bar, lengthscale_bar);
  gradient.segment(o.delta_lengthscale, d) += lengthscale_bar;
  first += model_->recipe.tie * lengthscale_bar;
}

void MomentRecursion::ReverseFirst(Eigen::Ref<Vector> gradient) {
  const ScaledData& data = model_->data;
  const MomentLayout& layout = model_->layout;
  const Index n = data.x.rows();
  k_bar_.resize(n, n);
  mean_bar_.resize(n);
  first_conditioning_.Reverse(1, c_bar_, m_bar_, k_bar_, mean_bar_);
  if (const int at = layout.noise[0]; at >= 0) {
    gradient[at] += k_bar_.diagonal().head(data.count(0)).sum() * 2 * std::exp(2 * theta_[at]);
  }
  gradient[layout.first.mean] += mean_bar_.sum();
  PackPairs(k_bar_, 2, pairs_bar_);
  if (const int at = layout.trend[0]; at >= 0) {
    gradient[at] += std::exp(theta_[at]) *
                    ((pairs_bar_ * model_->trend_pairs[0]).sum() + k_bar_.diagonal().dot(model_->trend_diagonal));
  }
  const double amplitude = std::exp(theta_[layout.first.amplitude]);
  gradient[layout.first.amplitude] += amplitude * ((pairs_bar_ * first_kernel_).sum() + k_bar_.diagonal().sum());
  pairs_bar_ *= amplitude * first_slope_;
  const int d = data.dimension();
  if (layout.first.warp < 0) {
    AccumulatePairLengthscaleGradient(first_inputs_, pairs_bar_, gradient.segment(layout.first.lengthscale, d));
    return;
  }
  Matrix inputs_bar = Matrix::Zero(n, d);
  AccumulatePairInputGradient(first_inputs_, pairs_bar_, inputs_bar);
  for (int j = 0; j < d; ++j) {
    gradient[layout.first.lengthscale + j] -= inputs_bar.col(j).dot(first_inputs_.col(j));
    const double c = theta_[layout.first.warp + j];
    double sum = 0;
    for (Index i = 0; i < n; ++i) sum += inputs_bar(i, j) * WarpInput(data.x(i, j), c).sensitivity;
    gradient[layout.first.warp + j] += sum * std::exp(-theta_[layout.first.lengthscale + j]);
  }
}

}  // namespace fidelio
