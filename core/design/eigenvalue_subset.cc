#include "core/design/eigenvalue_subset.h"

#include <algorithm>
#include <cmath>

namespace fidelio {
namespace {

// 1 / (1 + e^−x).
double Logistic(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }

// log α with Σ p within a quarter of k: every α gives the same distribution, this one good numbers.
double LogScale(const Vector& log_values, int k) {
  constexpr double kCertain = 40;  // e⁻⁴⁰ is nothing beside 1
  double low = -log_values.maxCoeff() - kCertain, high = -log_values.minCoeff() + kCertain;
  double t = std::clamp(-log_values[k - 1], low, high);  // eigenvalues usually come sorted
  for (int iteration = 0; iteration < 200; ++iteration) {
    double sum = 0, slope = 0;
    for (const double log_value : log_values) {
      const double p = Logistic(t + log_value);
      sum += p;
      slope += p * (1 - p);
    }
    if (std::abs(sum - k) < 0.25) break;
    (sum < k ? low : high) = t;
    const double newton = t - (sum - k) / slope;
    t = newton > low && newton < high ? newton : (low + high) / 2;
  }
  return t;
}

}  // namespace

EigenvalueSubset::EigenvalueSubset(const Vector& log_values, int k)
    : r_(static_cast<int>(log_values.size())),
      k_(k),
      log_scale_(LogScale(log_values, k)),
      head_(r_),
      heads_(static_cast<size_t>(r_ + 1) * (k + 1)) {
  heads_[0] = 1;
  for (int i = 1; i <= r_; ++i) {
    const double x = log_scale_ + log_values[i - 1], p = Logistic(x), q = Logistic(-x);
    head_[i - 1] = p;
    const double* const before = Heads(i - 1);
    double* const after = heads_.data() + static_cast<size_t>(i) * (k + 1);
    after[0] = q * before[0];
    for (int j = 1; j <= std::min(i, k); ++j) after[j] = q * before[j] + p * before[j - 1];
  }
}

std::vector<int> EigenvalueSubset::Draw(Random& random) const {
  std::vector<int> chosen(k_);
  for (int i = r_, j = k_; j > 0; --i) {
    if (random.Uniform() < Head(i, j)) chosen[--j] = i - 1;
  }
  return chosen;
}

double EigenvalueSubset::LogRatio() const { return std::log(Heads(r_)[k_ - 1] / Heads(r_)[k_]) + log_scale_; }

}  // namespace fidelio
