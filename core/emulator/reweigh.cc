#include "core/emulator/reweigh.h"

namespace fidelio {
namespace {

constexpr double kLeastPart = 0.1;

double EffectiveNumber(const Vector& weights) { return weights.sum() * weights.sum() / weights.squaredNorm(); }

// weights·exp(power·log_factors), summing to 1.
Vector Tempered(const Vector& weights, const Vector& log_factors, double power) {
  const double largest = log_factors.maxCoeff();
  Vector result = weights.array() * (power * (log_factors.array() - largest)).exp();
  return result / result.sum();
}

}  // namespace

Vector Reweigh(const Vector& weights, const Vector& log_factors) {
  const double least = kLeastPart * EffectiveNumber(weights);
  double power = 1;
  if (EffectiveNumber(Tempered(weights, log_factors, 1)) < least) {
    double low = 0, high = 1;
    for (int i = 0; i < 40; ++i) {
      power = (low + high) / 2;
      (EffectiveNumber(Tempered(weights, log_factors, power)) < least ? high : low) = power;
    }
    power = low;
  }
  return Tempered(weights, log_factors, power);
}

}  // namespace fidelio
