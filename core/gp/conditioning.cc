#include "core/gp/conditioning.h"

#include "core/base/normal.h"
#include "core/base/status_macros.h"
#include "core/linalg/cholesky.h"
#include "core/linalg/triangular.h"

namespace fidelio {

using Eigen::Index;

absl::Status Conditioning::Run(MatrixRef k, const ConstVectorRef& mean, const ConstVectorRef& y,
                               const ConstVectorRef& noise, absl::string_view name) {
  const Index n = y.size(), rest = mean.size() - n;
  factor_ = k.topLeftCorner(n, n);
  factor_.diagonal() += noise;
  inverse_.resize(n, n);
  FIDELIO_ASSIGN_OR_RETURN(jitter_, CholeskyWithInverse(factor_, inverse_, name));
  whitened_.noalias() = inverse_ * (y - mean.head(n));
  alpha_.noalias() = inverse_.transpose() * whitened_;
  log_likelihood_ = -0.5 * whitened_.squaredNorm() - factor_.diagonal().array().log().sum() -
                    0.5 * static_cast<double>(n) * kLogTwoPi;
  mean_rest_ = mean.tail(rest);
  half_weights_.resize(rest, n);
  weights_.resize(rest, n);
  if (n == 0 || rest == 0) return absl::OkStatus();
  const auto k_ba = k.bottomLeftCorner(rest, n);
  TimesLowerTransposed(k_ba, inverse_, half_weights_);  // (L⁻¹ K_ab)ᵀ
  TimesLower(half_weights_, inverse_, weights_);
  mean_rest_.noalias() += half_weights_ * whitened_;
  SubtractGram(half_weights_, k.bottomRightCorner(rest, rest));
  return absl::OkStatus();
}

void Conditioning::Reverse(double weight, const ConstMatrixRef& c_bar, const ConstVectorRef& m_bar, MatrixRef k_bar,
                           Eigen::Ref<Vector> mean_bar) {
  const Index n = alpha_.size(), rest = m_bar.size();
  mean_bar.tail(rest) = m_bar;
  k_bar.bottomRightCorner(rest, rest) = c_bar;
  if (n == 0) return;
  auto aa = k_bar.topLeftCorner(n, n);
  LowerTransposeTimesLower(inverse_, aa);
  aa *= -0.5 * weight;
  mean_bar.head(n) = weight * alpha_;
  beta_ = -0.5 * weight * alpha_;  // aa −= ½(β αᵀ + α βᵀ) below, with β = Vᵀ m_bar − ½ weight α
  if (rest > 0) {
    auto ba = k_bar.bottomLeftCorner(rest, n);
    product_.noalias() = c_bar * weights_;  // rest×n
    AddToLower(weights_.transpose(), product_, aa);
    for (Index j = 0; j < n; ++j) ba.col(j) = (0.5 * alpha_[j]) * m_bar - product_.col(j);
    const Vector v_m = weights_.transpose() * m_bar;
    mean_bar.head(n) -= v_m;
    beta_ += v_m;
  }
  for (Index j = 0; j < n; ++j) {
    aa.col(j).tail(n - j) -= 0.5 * (alpha_[j] * beta_.tail(n - j) + beta_[j] * alpha_.tail(n - j));
  }
}

}  // namespace fidelio
