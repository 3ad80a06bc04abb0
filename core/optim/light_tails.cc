#include "core/optim/light_tails.h"

#include <cmath>
#include <utility>

namespace fidelio {
namespace {

using Eigen::Index;

double Stretch(double u, double tail) { return u * std::exp(0.5 * tail * u * u); }
// dz/du, and the first two derivatives of its logarithm.
double Slope(double u, double tail) { return (1 + tail * u * u) * std::exp(0.5 * tail * u * u); }
double LogSlope(double u, double tail) { return std::log1p(tail * u * u) + 0.5 * tail * u * u; }
double LogSlopeFirst(double u, double tail) { return 2 * tail * u / (1 + tail * u * u) + tail * u; }
double LogSlopeSecond(double u, double tail) {
  const double square = tail * u * u;
  return 2 * tail * (1 - square) / ((1 + square) * (1 + square)) + tail;
}

// Newton's method for v = tail·u²: log v + v = log(tail·z²), whose left side is concave and increasing.
double Shrink(double z, double tail) {
  if (z == 0 || tail == 0) return z;
  const double right = std::log(tail) + 2 * std::log(std::abs(z));
  double v = right > 1 ? right : std::exp(right) / (1 + std::exp(right));
  for (int i = 0; i < 50; ++i) {
    const double step = (std::log(v) + v - right) / (1 / v + 1);
    const double next = v - step > 0 ? v - step : 0.5 * v;
    if (std::abs(next - v) <= 1e-15 * v) break;
    v = next;
  }
  return std::copysign(std::sqrt(v / tail), z);
}

}  // namespace

Vector LightTails::Z(const Vector& u) const { return u.binaryExpr(tails_, &Stretch); }
Vector LightTails::U(const Vector& z) const { return z.binaryExpr(tails_, &Shrink); }

double LightTails::LogSlopes(const Vector& u) const { return u.binaryExpr(tails_, &LogSlope).sum(); }

Matrix LightTails::Hessian(const Vector& u, const Matrix& z_hessian) const {
  const Vector slope = u.binaryExpr(tails_, &Slope);
  Matrix hessian = slope.asDiagonal() * z_hessian * slope.asDiagonal();
  hessian.diagonal() -= u.binaryExpr(tails_, &LogSlopeSecond);
  return hessian;
}

bool LightTails::InU::Evaluate(const Vector& u, double* value, Vector* gradient) {
  const Vector z = tails_.Z(u);
  if (!z.allFinite() || !objective_.Evaluate(z, value, gradient)) return false;
  const Vector& tails = tails_.tails_;
  for (Index i = 0; i < u.size(); ++i) {
    *value -= LogSlope(u[i], tails[i]);
    if (gradient != nullptr) (*gradient)[i] = (*gradient)[i] * Slope(u[i], tails[i]) - LogSlopeFirst(u[i], tails[i]);
  }
  return std::isfinite(*value) && (gradient == nullptr || gradient->allFinite());
}

}  // namespace fidelio
