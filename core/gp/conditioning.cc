#include "core/gp/conditioning.h"

#include "core/base/normal.h"
#include "core/base/status_macros.h"
#include "core/linalg/cholesky.h"
#include "core/linalg/product.h"
#include "core/linalg/triangular.h"

namespace fidelio {

using Eigen::Index;

absl::Status Conditioning::Run(MatrixRef k, const ConstVectorRef& mean, const ConstVectorRef& y,
                               const ConstVectorRef& noise, absl::string_view name) {
  const Index n = y.size(), rest = mean.size() - n;
  auto k_aa = k.topLeftCorner(n, n);
  k_aa.diagonal() += noise;
  inverse_.resize(n, n);
  FIDELIO_ASSIGN_OR_RETURN(jitter_, CholeskyWithInverse(k_aa, inverse_, name, &original_));
  whitened_.noalias() = inverse_ * (y - mean.head(n));
  alpha_.noalias() = inverse_.transpose() * whitened_;
  log_likelihood_ =
      -0.5 * whitened_.squaredNorm() - k_aa.diagonal().array().log().sum() - 0.5 * static_cast<double>(n) * kLogTwoPi;
  mean_rest_ = mean.tail(rest);
  weights_.resize(rest + 2, n);
  if (n == 0 || rest == 0) return absl::OkStatus();
  auto half = k.bottomLeftCorner(rest, n);  // becomes (L⁻¹ K_ab)ᵀ
  TimesLowerTransposed(half, inverse_, half);
  TimesLower(half, inverse_, weights_.topRows(rest));
  mean_rest_.noalias() += half * whitened_;
  SubtractGram(half, k.bottomRightCorner(rest, rest));
  return absl::OkStatus();
}

void Conditioning::Reverse(double weight, const ConstMatrixRef& c_bar, const ConstVectorRef& m_bar, MatrixRef k_bar,
                           Eigen::Ref<Vector> mean_bar) {
  const Index n = alpha_.size(), rest = m_bar.size();
  mean_bar.tail(rest) = m_bar;
  k_bar.bottomRightCorner(rest, rest) = c_bar;
  if (n == 0) return;
  // With V = K_ba K⁻¹ and β = Vᵀ m_bar − ½ weight α:
  //   aa = −½ weight K⁻¹ + Vᵀ (C_bar V) − ½ α βᵀ − ½ β αᵀ = −½ weight K⁻¹ + [V; α; β]ᵀ [C_bar V; −½ β; −½ α]
  //   ba = ½ m_bar αᵀ − C_bar V
  weights_bar_.resize(rest + 2, n);
  beta_ = -0.5 * weight * alpha_;
  mean_bar.head(n) = weight * alpha_;
  if (rest > 0) {
    const auto v = weights_.topRows(rest);
    Multiply({}, 1, c_bar, v, Write::kSet, weights_bar_.topRows(rest));
    auto ba = k_bar.bottomLeftCorner(rest, n);
    for (Index j = 0; j < n; ++j) ba.col(j) = (0.5 * alpha_[j]) * m_bar - weights_bar_.col(j).head(rest);
    v_m_.noalias() = v.transpose() * m_bar;
    mean_bar.head(n) -= v_m_;
    beta_ += v_m_;
  }
  weights_.row(rest) = alpha_.transpose();
  weights_.row(rest + 1) = beta_.transpose();
  weights_bar_.row(rest) = -0.5 * beta_.transpose();
  weights_bar_.row(rest + 1) = -0.5 * alpha_.transpose();
  auto aa = k_bar.topLeftCorner(n, n);
  LowerTransposeTimesLower(inverse_, aa, -0.5 * weight);
  AddToLower(weights_.transpose(), weights_bar_, aa);
}

}  // namespace fidelio
