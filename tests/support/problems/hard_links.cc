// Problems whose levels are badly linked: a low fidelity that is useless, reversed, noisy, or that jumps.
#include <cmath>
#include <numbers>

#include "tests/support/problems/families.h"

namespace fidelio {
namespace {

using std::numbers::pi;

double ForresterValue(double x) { return (6 * x - 2) * (6 * x - 2) * std::sin(12 * x - 4); }

double BraninValue(double x1, double x2) {
  const double parabola = x2 - 5.1 * x1 * x1 / (4 * pi * pi) + 5 * x1 / pi - 6;
  return parabola * parabola + 10 * (1 - 1 / (8 * pi)) * std::cos(x1) + 10;
}

double Bump(const Vector& x, double c1, double c2, double width) {
  const double a = x[0] - c1;
  const double b = x[1] - c2;
  return std::exp(-(a * a + b * b) / (2 * width * width));
}

// Jumps at one half at both levels; Raissi and Karniadakis (2016).
double Jump(int level, const Vector& x) {
  const double step = x[0] < 0.5 ? 0 : 3;
  const double low = 0.5 * ForresterValue(x[0]) + 10 * (x[0] - 0.5) + step;
  if (level == 0) return low;
  return 2 * low - 20 * x[0] + 20 + (x[0] < 0.5 ? 0 : 4);
}

double NoisyForrester(int level, const Vector& x) {
  return level == 1 ? ForresterValue(x[0]) : 0.5 * ForresterValue(x[0]) + 10 * (x[0] - 0.5) - 5;
}

double Useless1(int level, const Vector& x) {
  return level == 1 ? std::sin(7 * x[0]) + x[0] : std::cos(19 * x[0] + 1) * (1 + x[0]);
}

double Useless2(int level, const Vector& x) {
  if (level == 1) return 2 * Bump(x, 0.3, 0.6, 0.35) - Bump(x, 0.8, 0.2, 0.25) + 0.5 * x[0];
  return std::sin(9 * x[0] + 1) * std::cos(8 * x[1]) + x[1];
}

// A constant low fidelity with a little noise: it carries nothing at all.
double Constant(int level, const Vector& x) {
  return level == 1 ? std::sin(3 * x[0]) * std::cos(4 * x[1]) + x[0] * x[2] : 2.0;
}

double Reversed1(int level, const Vector& x) {
  return level == 1 ? ForresterValue(x[0]) : -ForresterValue(x[0]) + 2 * std::sin(5 * x[0]);
}

double Reversed2(int level, const Vector& x) {
  const double high = BraninValue(x[0], x[1]) / 100;
  return level == 1 ? high : -high + 0.05 * std::sin(x[0]) + 0.02 * x[1];
}

// The middle level helps, the lowest does not.
double Misleading(int level, const Vector& x) {
  const double high = std::exp(-x[0]) * std::sin(2 * pi * x[1]) + x[0] * x[0];
  if (level == 2) return high;
  if (level == 1) return 0.8 * high + 0.3 * x[1];
  return std::cos(6 * x[0] - 3 * x[1]);
}

// The high fidelity is a steep sigmoid of the low one.
double Saturated(int level, const Vector& x) {
  const double low = std::sin(4 * x[0]) + std::cos(3 * x[1]) + x[0] * x[1];
  return level == 0 ? low : std::tanh(3 * (low - 0.8)) + 0.1 * x[0];
}

double NoisyHartmann(int level, const Vector& x) {
  static constexpr double kA[4][3] = {{3, 10, 30}, {0.1, 10, 35}, {3, 10, 30}, {0.1, 10, 35}};
  static constexpr double kP[4][3] = {
      {0.3689, 0.1170, 0.2673}, {0.4699, 0.4387, 0.7470}, {0.1091, 0.8732, 0.5547}, {0.0381, 0.5743, 0.8828}};
  static constexpr double kAlpha[2][4] = {{1.4, 0.8, 2.4, 3.8}, {1.0, 1.2, 3.0, 3.2}};
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    double exponent = 0;
    for (int j = 0; j < 3; ++j) exponent -= kA[i][j] * (x[j] - kP[i][j]) * (x[j] - kP[i][j]);
    sum += kAlpha[level][i] * std::exp(exponent);
  }
  return sum;
}

}  // namespace

std::vector<Problem> HardLinkProblems() {
  return {
      {.name = "jump",
       .about = "both levels jump; Raissi and Karniadakis (2016)",
       .lower = Filled(1, 0),
       .upper = Filled(1, 1),
       .costs = {0.1, 1},
       .sizes = {30, 10},
       .noises = {},
       .function = Jump},
      {.name = "forrester_noisy",
       .about = "linear, noise at both levels",
       .lower = Filled(1, 0),
       .upper = Filled(1, 1),
       .costs = {0.1, 1},
       .sizes = {40, 12},
       .noises = {{.sd = 1, .relative_sd = 0}, {.sd = 0.8, .relative_sd = 0}},
       .function = NoisyForrester},
      {.name = "hartmann3_noisy",
       .about = "changed weights, noise at both levels",
       .lower = Filled(3, 0),
       .upper = Filled(3, 1),
       .costs = {0.1, 1},
       .sizes = {100, 40},
       .noises = {{.sd = 0.2, .relative_sd = 0}, {.sd = 0.2, .relative_sd = 0}},
       .function = NoisyHartmann},
      {.name = "useless1",
       .about = "independent functions of one input",
       .lower = Filled(1, 0),
       .upper = Filled(1, 1),
       .costs = {0.1, 1},
       .sizes = {20, 7},
       .noises = {},
       .function = Useless1},
      {.name = "useless2",
       .about = "independent functions of two inputs",
       .lower = Filled(2, 0),
       .upper = Filled(2, 1),
       .costs = {0.1, 1},
       .sizes = {30, 15},
       .noises = {},
       .function = Useless2},
      {.name = "useless3",
       .about = "the low fidelity is noise around a constant",
       .lower = Filled(3, 0),
       .upper = Filled(3, 1),
       .costs = {0.1, 1},
       .sizes = {30, 20},
       .noises = {{.sd = 0.1, .relative_sd = 0}, {.sd = 0, .relative_sd = 0}},
       .function = Constant},
      {.name = "reversed1",
       .about = "anti-correlated, with a small discrepancy",
       .lower = Filled(1, 0),
       .upper = Filled(1, 1),
       .costs = {0.1, 1},
       .sizes = {15, 6},
       .noises = {},
       .function = Reversed1},
      {.name = "reversed2",
       .about = "anti-correlated Branin, with a small discrepancy",
       .lower = Vector{{-5, 0}},
       .upper = Vector{{10, 15}},
       .costs = {0.1, 1},
       .sizes = {50, 12},
       .noises = {},
       .function = Reversed2},
      {.name = "misleading",
       .about = "the middle level helps, the lowest is unrelated",
       .lower = Filled(2, 0),
       .upper = Filled(2, 1),
       .costs = {0.01, 0.1, 1},
       .sizes = {40, 20, 8},
       .noises = {},
       .function = Misleading},
      {.name = "saturated",
       .about = "the high fidelity is a steep sigmoid of the low one",
       .lower = Filled(2, 0),
       .upper = Filled(2, 2),
       .costs = {0.1, 1},
       .sizes = {40, 20},
       .noises = {},
       .function = Saturated},
  };
}

}  // namespace fidelio
