// Problems in one dimension: the four of the appendix of Cutajar et al. (2019), the Forrester family (Forrester,
// Sóbester and Keane 2007; fidelities of Mainini et al. 2022), phase-shifted oscillations (Raissi and Karniadakis 2016)
// and the heterogeneous function of Clark and Bae (2018).
#include <cmath>
#include <numbers>
#include <utility>

#include "tests/support/problems/families.h"

namespace fidelio {
namespace {

using std::numbers::pi;

double ForresterHigh(double x) { return (6 * x - 2) * (6 * x - 2) * std::sin(12 * x - 4); }

// Shifted inside the square: a nonlinear link.
double ForresterShifted(double x) { return (5.5 * x - 2.5) * (5.5 * x - 2.5) * std::sin(12 * x - 4); }

double ForresterScaled(double x) { return 0.75 * ForresterHigh(x) + 5 * (x - 0.5) - 2; }

double ForresterTilted(double x) { return 0.5 * ForresterHigh(x) + 10 * (x - 0.5) - 5; }

double Forrester(int level, const Vector& x) { return level == 1 ? ForresterHigh(x[0]) : ForresterTilted(x[0]); }

double ForresterNonlinear(int level, const Vector& x) {
  return level == 1 ? ForresterHigh(x[0]) : ForresterShifted(x[0]);
}

double Forrester4(int level, const Vector& x) {
  if (level == 3) return ForresterHigh(x[0]);
  if (level == 2) return ForresterShifted(x[0]);
  return level == 1 ? ForresterScaled(x[0]) : ForresterTilted(x[0]);
}

double Forrester3(int level, const Vector& x) {
  if (level == 2) return ForresterHigh(x[0]);
  return level == 1 ? ForresterShifted(x[0]) : ForresterTilted(x[0]);
}

double LinearA(int level, const Vector& x) {
  const double high = ForresterHigh(x[0]);
  return level == 1 ? high : 0.5 * high + 10 * (x[0] - 0.5) + 5;
}

double LinearB(int level, const Vector& x) {
  const double t = x[0];
  const double high = 5 * t * t * std::sin(12 * t);
  return level == 1 ? high : 2 * high + (t * t * t - 0.5) * std::sin(3 * t - 0.5) + 4 * std::cos(2 * t);
}

double NonlinearA(int level, const Vector& x) {
  const double low = std::sin(8 * pi * x[0]);
  return level == 0 ? low : (x[0] - std::numbers::sqrt2) * low * low;
}

double NonlinearB(int level, const Vector& x) {
  return level == 0 ? std::cos(15 * x[0]) : x[0] * std::exp(std::cos(15 * (2 * x[0] - 0.2))) - 1;
}

double PhaseShift(int level, const Vector& x) {
  if (level == 0) return std::sin(8 * pi * x[0]);
  const double wave = std::sin(8 * pi * x[0] + pi / 10);
  return x[0] * x[0] + wave * wave;
}

double Heterogeneous(int level, const Vector& x) {
  const double t = x[0] - 0.9;
  const double high = std::sin(30 * t * t * t * t) * std::cos(2 * t) + t / 2;
  return level == 1 ? high : (high - 1 + x[0]) / (1 + 0.25 * x[0]);
}

// A cubic whose two levels differ by a straight line.
double LinearDiscrepancy(int level, const Vector& x) {
  const double t = x[0];
  const double low = ((8 * t - 12) * t + 4) * t + std::cos(9 * t);
  return level == 0 ? low : 2 * low + 5 * t - 1;
}

Problem OneDimensional(const char* name, const char* about, std::vector<int> sizes,
                       double (*function)(int, const Vector&)) {
  std::vector<double> costs(sizes.size(), 1);
  for (size_t t = sizes.size() - 1; t-- > 0;) costs[t] = costs[t + 1] / 10;
  return {.name = name,
          .about = about,
          .lower = Filled(1, 0),
          .upper = Filled(1, 1),
          .costs = std::move(costs),
          .sizes = std::move(sizes),
          .noises = {},
          .function = function};
}

}  // namespace

std::vector<Problem> OneDimensionalProblems() {
  return {
      OneDimensional("linear_a", "scaled and tilted Forrester; Cutajar et al. (2019)", {12, 4}, LinearA),
      OneDimensional("linear_b", "doubled, with a smooth discrepancy; Cutajar et al. (2019)", {12, 5}, LinearB),
      OneDimensional("nonlinear_a", "squared and tilted sine; Perdikaris et al. (2017)", {50, 14}, NonlinearA),
      OneDimensional("nonlinear_b", "exponential of a dilated cosine; Cutajar et al. (2019)", {25, 12}, NonlinearB),
      OneDimensional("forrester", "scaled and tilted; Forrester et al. (2007)", {12, 5}, Forrester),
      OneDimensional("forrester_nonlinear", "shifted inside the square; Mainini et al. (2022)", {15, 6},
                     ForresterNonlinear),
      OneDimensional("forrester3", "tilted, then shifted inside the square; Mainini et al. (2022)", {16, 8, 4},
                     Forrester3),
      OneDimensional("forrester4", "all four fidelities of Mainini et al. (2022)", {20, 12, 7, 4}, Forrester4),
      OneDimensional("phase_shift", "oscillations out of phase; Raissi and Karniadakis (2016)", {50, 16}, PhaseShift),
      OneDimensional("heterogeneous1", "fast on the left, flat on the right; Clark and Bae (2018)", {25, 8},
                     Heterogeneous),
      OneDimensional("linear_discrepancy", "doubled, plus a straight line, from four points", {12, 4},
                     LinearDiscrepancy),
  };
}

}  // namespace fidelio
