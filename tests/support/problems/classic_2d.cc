// Functions of global optimisation in two dimensions, with the low fidelities of Dong et al. (2015), Toal (2015),
// Mainini et al. (2022) and Clark and Bae (2018).
#include <cmath>
#include <numbers>
#include <utility>

#include "tests/support/problems/families.h"

namespace fidelio {
namespace {

using std::numbers::pi;

double Square(double v) { return v * v; }

double BraninBase(double x1, double x2) {
  return Square(x2 - 5.1 * x1 * x1 / (4 * pi * pi) + 5 * x1 / pi - 6) + 10 * (1 - 1 / (8 * pi)) * std::cos(x1) + 10;
}

double BraninDong(int level, const Vector& x) {
  if (level == 1) return BraninBase(x[0], x[1]) - 22.5 * x[1];
  return BraninBase(0.7 * x[0], 0.7 * x[1]) - 15.75 * x[1] + 20 * Square(0.9 + x[0]) - 50;
}

double BohachevskyHigh(double x1, double x2) {
  return x1 * x1 + 2 * x2 * x2 - 0.3 * std::cos(3 * pi * x1) - 0.4 * std::cos(4 * pi * x2) + 0.7;
}

double Bohachevsky(int level, const Vector& x) {
  if (level == 1) return BohachevskyHigh(x[0], x[1]);
  return BohachevskyHigh(0.7 * x[0], x[1]) + x[0] * x[1] - 12;
}

double BoothHigh(double x1, double x2) { return Square(x1 + 2 * x2 - 7) + Square(2 * x1 + x2 - 5); }

double Booth(int level, const Vector& x) {
  if (level == 1) return BoothHigh(x[0], x[1]);
  return BoothHigh(0.4 * x[0], x[1]) + 1.7 * x[0] * x[1] - x[0] + 2 * x[1];
}

double CamelHigh(double x1, double x2) {
  const double a = x1 * x1;
  const double b = x2 * x2;
  return (4 - 2.1 * a + a * a / 3) * a + x1 * x2 + (4 * b - 4) * b;
}

double Camel(int level, const Vector& x) {
  if (level == 1) return CamelHigh(x[0], x[1]);
  return CamelHigh(0.7 * x[0], 0.7 * x[1]) + x[0] * x[1] - 15;
}

double HimmelblauHigh(double x1, double x2) { return Square(x1 * x1 + x2 - 11) + Square(x2 * x2 + x1 - 7); }

double Himmelblau(int level, const Vector& x) {
  if (level == 1) return HimmelblauHigh(x[0], x[1]);
  return HimmelblauHigh(0.5 * x[0], 0.8 * x[1]) + x[1] * x[1] * x[1] - Square(x[0] + 1);
}

// Three fidelities of Mainini et al.: the middle one moves the valley, the low one divides by a plane.
double Rosenbrock(int level, const Vector& x) {
  const double valley = Square(x[1] - x[0] * x[0]);
  const double high = 100 * valley + Square(1 - x[0]);
  if (level == 2) return high;
  const double sum = x[0] + x[1];
  if (level == 1) return 50 * valley + Square(-2 - x[0]) - 0.5 * sum;
  return (high - 4 - 0.5 * sum) / (10 + 0.25 * sum);
}

double Heterogeneous2(int level, const Vector& x) {
  const double t = x[0] - 0.9;
  const double high =
      std::sin(21 * t * t * t * t) * std::cos(2 * t) + (x[0] - 0.7) / 2 + 2 * x[1] * x[1] * std::sin(x[0] * x[1]);
  return level == 1 ? high : (high - 2 + x[0] + x[1]) / (5 + 0.25 * x[0] + 0.5 * x[1]);
}

double Paciorek(int level, const Vector& x) {
  const double phase = 1 / (x[0] * x[1]);
  const double high = std::sin(phase);
  return level == 1 ? high : high - 9 * 0.25 * std::cos(phase);
}

// Shifted and rotated by 0.2; the resolution errors of Wang, Jin and Doherty (2017) at 2500, 5000 and 10000.
double Rastrigin(int level, const Vector& x) {
  const double c = std::cos(0.2);
  const double s = std::sin(0.2);
  const double z[2] = {c * (x[0] - 0.1) - s * (x[1] - 0.1), s * (x[0] - 0.1) + c * (x[1] - 0.1)};
  static constexpr double kError[3] = {0.75, 0.5, 0};
  const double e = kError[level];
  double sum = 0;
  for (double v : z) {
    sum += v * v + 1 - std::cos(10 * pi * v) + e * Square(std::cos(10 * pi * e * v + 0.5 * pi * e + pi));
  }
  return sum;
}

double AckleyHigh(double x1, double x2) {
  return 20 + std::numbers::e - 20 * std::exp(-0.2 * std::sqrt((x1 * x1 + x2 * x2) / 2)) -
         std::exp((std::cos(2 * pi * x1) + std::cos(2 * pi * x2)) / 2);
}

// The low fidelity is shifted, rotated by 0.3 and lacks most of the ripple.
double Ackley(int level, const Vector& x) {
  if (level == 1) return AckleyHigh(x[0], x[1]);
  const double u = std::cos(0.3) * x[0] - std::sin(0.3) * x[1] - 0.1;
  const double v = std::sin(0.3) * x[0] + std::cos(0.3) * x[1] + 0.1;
  return 18 - 18 * std::exp(-0.22 * std::sqrt((u * u + v * v) / 2));
}

Problem TwoDimensional(const char* name, const char* about, std::pair<double, double> first,
                       std::pair<double, double> second, std::vector<int> sizes,
                       double (*function)(int, const Vector&)) {
  std::vector<double> costs(sizes.size(), 1);
  for (size_t t = sizes.size() - 1; t-- > 0;) costs[t] = costs[t + 1] / 10;
  return {.name = name,
          .about = about,
          .lower = Vector{{first.first, second.first}},
          .upper = Vector{{first.second, second.second}},
          .costs = std::move(costs),
          .sizes = std::move(sizes),
          .noises = {},
          .function = function};
}

}  // namespace

std::vector<Problem> ClassicProblems() {
  return {
      TwoDimensional("branin2", "dilated, plus a quadratic; Dong et al. (2015)", {-5, 10}, {0, 15}, {40, 15},
                     BraninDong),
      TwoDimensional("bohachevsky", "dilated, plus a product; Dong et al. (2015)", {-5, 5}, {-5, 5}, {30, 8},
                     Bohachevsky),
      TwoDimensional("booth", "polynomials of second degree; Dong et al. (2015)", {-10, 10}, {-10, 10}, {20, 6}, Booth),
      TwoDimensional("camel", "dilated polynomial of sixth degree; Dong et al. (2015)", {-2, 2}, {-2, 2}, {40, 16},
                     Camel),
      TwoDimensional("himmelblau", "dilated polynomial of fourth degree; Dong et al. (2015)", {-4, 4}, {-4, 4},
                     {30, 10}, Himmelblau),
      TwoDimensional("rosenbrock2", "polynomials and a rational low fidelity; Mainini et al. (2022)", {-2, 2}, {-2, 2},
                     {40, 20, 8}, Rosenbrock),
      TwoDimensional("heterogeneous2", "divided by a plane; Clark and Bae (2018)", {0, 1}, {0, 1}, {40, 12},
                     Heterogeneous2),
      TwoDimensional("paciorek", "out of phase, frequency varies; Toal (2015)", {0.3, 1}, {0.3, 1}, {60, 20}, Paciorek),
      TwoDimensional("rastrigin", "ripples with resolution errors; Wang et al. (2017)", {-0.1, 0.2}, {-0.1, 0.2},
                     {80, 40, 20}, Rastrigin),
      TwoDimensional("ackley", "shifted, rotated and smoothed", {-2, 2}, {-2, 2}, {50, 25}, Ackley),
  };
}

}  // namespace fidelio
