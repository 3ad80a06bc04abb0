// Problems in three to ten dimensions: Ishigami, Park's second function, Styblinski–Tang, Rosenbrock, Friedman,
// Hartmann, Trid and a quadratic form.
#include <cmath>
#include <numbers>
#include <utility>

#include "tests/support/problems/families.h"

namespace fidelio {
namespace {

using std::numbers::pi;

double Squared(double v) { return v * v; }

// Qian and Wu's pair: the middle term is weakened, the interaction strengthened.
double Ishigami(int level, const Vector& x) {
  const double s = std::sin(x[1]);
  const double fourth = Squared(Squared(x[2]));
  if (level == 1) return std::sin(x[0]) + 7 * s * s + 0.1 * fourth * std::sin(x[0]);
  return std::sin(x[0]) + 6.5 * s * s + 0.12 * fourth * std::sin(x[0]);
}

double Park2(int level, const Vector& x) {
  const double high = 2.0 / 3 * std::exp(x[0] + x[1]) - x[3] * std::sin(x[2]) + x[2];
  return level == 1 ? high : 1.2 * high - 1;
}

// The low fidelity lacks part of the quartic term.
double StyblinskiTang(int level, const Vector& x) {
  double sum = 0;
  for (double v : x) sum += 0.5 * ((level == 1 ? 1.0 : 0.9) * v * v * v * v - 16 * v * v + 5 * v);
  return level == 1 ? sum : sum + 10 * x[0];
}

double Rosenbrock5(int level, const Vector& x) {
  double high = 0;
  double middle = 0;
  for (int i = 0; i + 1 < x.size(); ++i) {
    const double valley = Squared(x[i + 1] - x[i] * x[i]);
    high += 100 * valley + Squared(1 - x[i]);
    middle += 50 * valley + Squared(-2 - x[i]);
  }
  return level == 1 ? high : middle - 0.5 * x.sum();
}

// Friedman (1991); the low fidelity replaces the sine by the first terms of its series.
double Friedman(int level, const Vector& x) {
  const double angle = pi * x[0] * x[1];
  const double wave = level == 1 ? std::sin(angle) : angle - angle * angle * angle / 6;
  return 10 * wave + 20 * Squared(x[2] - 0.5) + 10 * x[3] + (level == 1 ? 5 : 4) * x[4];
}

// Park, Haftka and Kim (2017): other weights, and the exponential by (1 + t/9)⁹ around −4.
double Hartmann6(int level, const Vector& x) {
  static constexpr double kA[4][6] = {
      {10, 3, 17, 3.5, 1.7, 8}, {0.05, 10, 17, 0.1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8}, {17, 8, 0.05, 10, 0.1, 14}};
  static constexpr double kP[4][6] = {{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
                                      {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
                                      {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
                                      {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};
  static constexpr double kHigh[4] = {1, 1.2, 3, 3.2};
  static constexpr double kLow[4] = {0.5, 0.5, 2, 4};
  double sum = 2.58;
  for (int i = 0; i < 4; ++i) {
    double exponent = 0;
    for (int j = 0; j < 6; ++j) exponent -= kA[i][j] * Squared(x[j] - kP[i][j]);
    sum += level == 1 ? kHigh[i] * std::exp(exponent)
                      : kLow[i] * std::pow(std::exp(-4.0 / 9) * (1 + (exponent + 4) / 9), 9);
  }
  return -sum / 1.94;
}

// Toal (2015) with the parameter 0.9.
double Trid(int level, const Vector& x) {
  const double a = level == 1 ? 1.0 : 0.9;
  double sum = 0;
  for (int i = 0; i < x.size(); ++i) sum += Squared(x[i] - a);
  for (int i = 1; i < x.size(); ++i) sum -= (level == 1 ? 1.0 : (a - 0.65) * (i + 1)) * x[i] * x[i - 1];
  return sum;
}

// A quadratic form with decaying weights; the low fidelity has no interactions.
double Quadratic(int level, const Vector& x) {
  double sum = 1;
  for (int i = 0; i < x.size(); ++i) {
    sum += (2 * x[i] + x[i] * x[i]) / (i + 1);
    if (level == 1 && i > 0) sum += 0.5 * x[i] * x[i - 1] / i;
  }
  return sum;
}

Problem Cube(const char* name, const char* about, int dimension, double lower, double upper, std::vector<int> sizes,
             double (*function)(int, const Vector&)) {
  return {.name = name,
          .about = about,
          .lower = Filled(dimension, lower),
          .upper = Filled(dimension, upper),
          .costs = {0.1, 1},
          .sizes = std::move(sizes),
          .noises = {},
          .function = function};
}

}  // namespace

std::vector<Problem> HighDimensionalProblems() {
  return {
      Cube("ishigami", "changed weights; Qian et al. (2018)", 3, -pi, pi, {80, 25}, Ishigami),
      Cube("park2", "linear; Park (1991), Xiong et al. (2013)", 4, 0, 1, {30, 5}, Park2),
      Cube("styblinski_tang", "polynomial of fourth degree with a changed term", 4, -4, 4, {80, 20}, StyblinskiTang),
      Cube("rosenbrock5", "moved valley; Mainini et al. (2022)", 5, -2, 2, {100, 30}, Rosenbrock5),
      Cube("friedman", "series instead of the sine; Friedman (1991)", 5, 0, 1, {60, 12}, Friedman),
      Cube("hartmann6", "changed weights and exponential; Park et al. (2017)", 6, 0.1, 1, {120, 40}, Hartmann6),
      Cube("trid10", "quadratic, strongly changed interactions; Toal (2015)", 10, -100, 100, {120, 30}, Trid),
      Cube("quadratic10", "quadratic, no interactions in the low fidelity", 10, -1, 1, {100, 20}, Quadratic),
  };
}

}  // namespace fidelio
