// Problems with a physical meaning: output transformerless circuit and piston (Ben-Ari and Steinberg 2007), wing weight
// (Forrester et al. 2008; fidelities of Chen et al. 2024), coupled springs (Mainini et al. 2022).
#include <array>
#include <cmath>
#include <numbers>

#include "tests/support/problems/families.h"

namespace fidelio {
namespace {

using std::numbers::pi;

// Mid-point voltage; x = (Rb1, Rb2, Rf, Rc1, Rc2, β). The low fidelity takes the current gain β to infinity in the
// terms of the base and forgets the output stage.
double Circuit(int level, const Vector& x) {
  const double base = 12 * x[1] / (x[0] + x[1]) + 0.74;
  const double gain = x[5] * (x[4] + 9);
  const double sum = gain + x[2];
  if (level == 0) return base + 11.35 * x[2] / gain;
  return base * gain / sum + 11.35 * x[2] / sum + 0.74 * x[2] * gain / (sum * x[3]);
}

// Cycle time; x = (M, S, V0, k, P0, Ta, T0). The low fidelity is isothermal and forgets the piston's own weight.
double Piston(int level, const Vector& x) {
  const double weight = level == 1 ? 19.62 * x[0] : 0.0;
  const double temperature = level == 1 ? x[5] / x[6] : 0.84;
  const double a = x[4] * x[1] + weight - x[3] * x[2] / x[1];
  const double gas = x[4] * x[2] * temperature;
  const double volume = x[1] / (2 * x[3]) * (std::sqrt(a * a + 4 * x[3] * gas) - a);
  return 2 * pi * std::sqrt(x[0] / (x[3] + x[1] * x[1] * gas / (volume * volume)));
}

// Weight of a light aircraft's wing; x = (Sw, Wfw, A, Λ°, q, λ, tc, Nz, Wdg, Wp). Levels change the exponent of the
// wing's area, and how the paint is counted.
double WingWeight(int level, const Vector& x) {
  static constexpr double kAreaExponent[3] = {0.9, 0.8, 0.758};
  const double cosine = std::cos(x[3] * pi / 180);
  const double weight = 0.036 * std::pow(x[0], kAreaExponent[level]) * std::pow(x[1], 0.0035) *
                        std::pow(x[2] / (cosine * cosine), 0.6) * std::pow(x[4], 0.006) * std::pow(x[5], 0.04) *
                        std::pow(100 * x[6] / cosine, -0.3) * std::pow(x[7] * x[8], 0.49);
  if (level == 0) return weight;
  return weight + (level == 1 ? x[9] : x[0] * x[9]);
}

// Position of the first of two masses between walls after six seconds; x = (m1, m2, k1, k2). The levels differ by the
// time step of a Runge–Kutta method of fourth order.
double Springs(int level, const Vector& x) {
  using State = std::array<double, 4>;  // positions, velocities
  const int steps = level == 1 ? 600 : 10;
  const double h = 6.0 / steps;
  const auto derivative = [&x](const State& s) -> State {
    const double middle = x[3] * (s[1] - s[0]);
    return {s[2], s[3], (-x[2] * s[0] + middle) / x[0], (-x[2] * s[1] - middle) / x[1]};
  };
  const auto step = [](const State& s, const State& d, double by) -> State {
    return {s[0] + by * d[0], s[1] + by * d[1], s[2] + by * d[2], s[3] + by * d[3]};
  };
  State s = {1, 0, 0, 0};
  for (int i = 0; i < steps; ++i) {
    const State a = derivative(s);
    const State b = derivative(step(s, a, h / 2));
    const State c = derivative(step(s, b, h / 2));
    const State d = derivative(step(s, c, h));
    for (int j = 0; j < 4; ++j) s[j] += h / 6 * (a[j] + 2 * b[j] + 2 * c[j] + d[j]);
  }
  return s[0];
}

}  // namespace

std::vector<Problem> EngineeringProblems() {
  return {
      {.name = "circuit",
       .about = "six inputs, infinite gain as low fidelity; Ben-Ari and Steinberg (2007)",
       .lower = Vector{{50, 25, 0.5, 1.2, 0.25, 50}},
       .upper = Vector{{150, 70, 3, 2.5, 1.2, 300}},
       .costs = {0.1, 1},
       .sizes = {60, 12},
       .noises = {},
       .function = Circuit},
      {.name = "piston",
       .about = "seven inputs, isothermal and weightless as low fidelity; Ben-Ari and Steinberg (2007)",
       .lower = Vector{{30, 0.005, 0.002, 1000, 90000, 290, 340}},
       .upper = Vector{{60, 0.020, 0.010, 5000, 110000, 296, 360}},
       .costs = {0.1, 1},
       .sizes = {80, 20},
       .noises = {},
       .function = Piston},
      {.name = "wing_weight",
       .about = "ten inputs, three levels, changed exponent and term; Chen et al. (2024)",
       .lower = Vector{{150, 220, 6, -10, 16, 0.5, 0.08, 2.5, 1700, 0.025}},
       .upper = Vector{{200, 300, 10, 10, 45, 1, 0.18, 6, 2500, 0.08}},
       .costs = {0.01, 0.1, 1},
       .sizes = {80, 40, 12},
       .noises = {},
       .function = WingWeight},
      {.name = "springs",
       .about = "two masses, coarse time steps as low fidelity; Mainini et al. (2022)",
       .lower = Filled(4, 1),
       .upper = Filled(4, 4),
       .costs = {0.02, 1},
       .sizes = {80, 25},
       .noises = {},
       .function = Springs},
  };
}

}  // namespace fidelio
