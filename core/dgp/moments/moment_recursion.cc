#include "core/dgp/moments/moment_recursion.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/kernel/stationary.h"
#include "core/linalg/packed.h"

namespace fidelio {

using Eigen::ArrayXd;
using Eigen::Index;

constexpr double kLeastLinkWeight = 1e-30;  // below this, a link's share of the gradient is lost in rounding

MomentRecursion::MomentRecursion(std::shared_ptr<const MomentModel> model)
    : model_(std::move(model)),
      links_(static_cast<int>(model_->recipe.links.size())),
      first_(model_->first->NewEvaluation(*model_)),
      levels_(model_->data.levels()) {
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
  const double first = first_conditioning_.log_likelihood();
  log_likelihood_to_.assign(1, first);
  link_weights_ = Vector::Constant(1, 1.0);
  const int levels = model_->data.levels();
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
    const double largest = log_weights.maxCoeff();
    link_weights_ = (log_weights.array() - largest).exp();
    const double sum = link_weights_.sum();
    link_weights_ /= sum;
    log_likelihood_to_.push_back(first + largest + std::log(sum / total_weight));
  }
  log_likelihood_ = log_likelihood_to_.back();
  return absl::OkStatus();
}

absl::Status MomentRecursion::ForwardFirst(const ConstVectorRef& theta) {
  const ScaledData& data = model_->data;
  first_->Forward(theta, first_k_, first_mean_);
  FIDELIO_RETURN_IF_ERROR(first_conditioning_.Run(first_k_, first_mean_, data.y.head(data.count(0)), Noise(theta, 0),
                                                  "covariance of level 0"));
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
    for (int l = 0; l < links_; ++l) {
      if (link_weights_[l] > kLeastLinkWeight) ReverseLink(l, gradient);
    }
    ReverseKernel(1, levels_[1].nodes[0], shared_pairs_bar_, shared_diagonal_bar_, shared_m_bar_);
    for (int t = 1; t < levels; ++t) ReverseLevel(t, gradient);
  }
  if (!model_->layout.learns_first()) return;
  ReverseConditioning(0, 1, first_conditioning_, gradient);
  first_->Reverse(levels_[0].k_bar, levels_[0].mean_bar, gradient);
}

// Level t's conditioning on y_t: from the adjoints that level t+1 left to those of level t's prior, k_bar and mean_bar.
void MomentRecursion::ReverseConditioning(int t, double weight, Conditioning& conditioning,
                                          Eigen::Ref<Vector> gradient) {
  const ScaledData& data = model_->data;
  Level& level = levels_[t];
  const int rest = data.rest(t);
  level.k_bar.resize(rest, rest);
  level.mean_bar.resize(rest);
  if (t + 1 < data.levels()) {
    conditioning.Reverse(weight, levels_[t + 1].c_bar, levels_[t + 1].m_bar, level.k_bar, level.mean_bar);
  } else {
    conditioning.Reverse(weight, Matrix(0, 0), Vector(0), level.k_bar, level.mean_bar);
  }
  if (const int at = model_->layout.noise[t]; at >= 0) {
    gradient[at] += level.k_bar.diagonal().head(data.count(t)).sum() * 2 * std::exp(2 * theta_[at]);
  }
}

// Level t's link kernel: from the adjoints of its prior to those of the level below at its points, c_bar and m_bar.
void MomentRecursion::ReverseKernel(int t, Node& node, const ArrayXd& pairs_bar, const ConstVectorRef& diagonal_bar,
                                    const Vector& mean_bar) {
  Level& level = levels_[t];
  node.kernel.Reverse(level.inputs, level.trend_diagonal, node.m, node.v, node.c, pairs_bar, diagonal_bar,
                      level.rho_bar, level.delta_bar, level.scalars_bar, level.m_bar, level.v_bar, level.c_bar_pairs);
  level.m_bar += level.scalars.rho * mean_bar;
  level.c_bar.resize(node.m.size(), node.m.size());
  UnpackSymmetric(level.c_bar_pairs, level.v_bar, 0.5, level.c_bar);
}

// From the top level down to level 1 under one link; what reaches level 1's kernel is added to the shared adjoints.
void MomentRecursion::ReverseLink(int l, Eigen::Ref<Vector> gradient) {
  const ScaledData& data = model_->data;
  const Link& link = model_->recipe.links[l];
  const double zero = link.raw_zero ? data.raw_zero : 0.0;
  for (int t = data.levels() - 1; t >= 1; --t) {
    Level& level = levels_[t];
    Node& node = level.nodes[l];
    ReverseConditioning(t, link_weights_[l], node.conditioning, gradient);
    PackPairs(level.k_bar, 2, level.pairs_bar);
    if (link.offset) {
      gradient[model_->layout.upper[t - 1].offset] +=
          model_->Offset(theta_, t) * (level.pairs_bar.sum() + level.k_bar.diagonal().sum());
    }
    level.scalars_bar.rho += level.mean_bar.dot(Source(t, l).m) - zero * level.mean_bar.sum();
    if (t > 1) {
      ReverseKernel(t, node, level.pairs_bar, level.k_bar.diagonal(), level.mean_bar);
    } else {
      shared_pairs_bar_ += level.pairs_bar;
      shared_diagonal_bar_ += level.k_bar.diagonal();
      shared_m_bar_ += level.mean_bar;
    }
  }
}

// The hyperparameters of level t, once all links have added to its adjoints.
void MomentRecursion::ReverseLevel(int t, Eigen::Ref<Vector> gradient) {
  Level& level = levels_[t];
  const UpperLayerOffsets& o = model_->layout.upper[t - 1];
  for (int k = 0; k < kLinkParameters; ++k) gradient[o.terms + k] += level.scalars_bar.terms[k];
  gradient[o.delta] += level.scalars_bar.delta;
  gradient[o.rho] += level.scalars_bar.rho;
  if (const int at = model_->layout.trend[t]; at >= 0) gradient[at] += level.scalars_bar.trend;
  const int d = model_->data.dimension();
  level.rho_bar *= level.rho_slope;
  level.delta_bar *= level.delta_slope;
  Vector rho_bar = Vector::Zero(d), delta_bar = Vector::Zero(d);
  AccumulatePairLengthscaleGradient(level.rho_inputs, level.rho_bar, rho_bar);
  AccumulatePairLengthscaleGradient(level.delta_inputs, level.delta_bar, delta_bar);
  gradient.segment(o.rho_lengthscale, d) += rho_bar;
  gradient.segment(o.delta_lengthscale, d) += delta_bar;
  if (!model_->layout.learns_first()) return;
  gradient.segment(model_->layout.first.lengthscale, d) += model_->recipe.tie * rho_bar;
  gradient.segment(model_->layout.first.lengthscale, d) += model_->recipe.tie * delta_bar;
}

}  // namespace fidelio
