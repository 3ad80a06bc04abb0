#include "core/optim/light_tails.h"

#include <cmath>

#include "core/fit/mode_chains.h"
#include "core/param/prior.h"
#include "gtest/gtest.h"
#include "tests/support/gradient_check.h"
#include "tests/support/near.h"

namespace fidelio {
namespace {

constexpr double kShape = 4;

// Independent: a Student and a normal variable, both shifted.
class StudentAndNormal final : public Objective {
 public:
  int size() const override { return 2; }
  bool Evaluate(const Vector& z, double* value, Vector* gradient) override {
    Vector slopes = Vector::Zero(2);
    *value = Prior::Student(0, 1, kShape).NegativeLog(z[0] - 0.5, &slopes[0]) +
             Prior::Normal(0, 1).NegativeLog(z[1] + 1, &slopes[1]);
    if (gradient != nullptr) *gradient = slopes;
    return true;
  }
};

const LightTails& Tails() {
  static const LightTails tails(Vector{{1 / kShape, 0}});
  return tails;
}

TEST(LightTailsTest, CoordinatesAreInvertedFromTheMiddleToTheTails) {
  for (const double u : {-7.0, -1e-9, 0.0, 1e-3, 0.8, 3.0, 12.0}) {
    const Vector at{{u, u}};
    const Vector z = Tails().Z(at);
    EXPECT_NEAR(z[0], u * std::exp(u * u / (2 * kShape)), 1e-12 * std::abs(z[0]));
    EXPECT_EQ(z[1], u);
    EXPECT_TRUE(Near(Tails().U(z), at, 1e-12 * (1 + std::abs(u))));
  }
}

TEST(LightTailsTest, TheDensityIsThatOfTheOtherCoordinates) {
  StudentAndNormal in_z;
  LightTails::InU in_u(Tails(), in_z);
  const Vector u{{-1.3, 0.4}};
  double value, other;
  ASSERT_TRUE(in_u.Evaluate(u, &value, nullptr) && in_z.Evaluate(Tails().Z(u), &other, nullptr));
  const double h = 1e-5;  // |∂z/∂u| by differences
  const double slope = (Tails().Z(Vector{{u[0] + h, 0}})[0] - Tails().Z(Vector{{u[0] - h, 0}})[0]) / (2 * h);
  EXPECT_NEAR(value, other - std::log(slope), 1e-9);
  EXPECT_NEAR(value + Tails().LogSlopes(u), other, 1e-12);
}

TEST(LightTailsTest, TailsAreGaussian) {
  StudentAndNormal in_z;
  LightTails::InU in_u(Tails(), in_z);
  double nine, ten;
  ASSERT_TRUE(in_u.Evaluate(Vector{{9, 0}}, &nine, nullptr) && in_u.Evaluate(Vector{{10, 0}}, &ten, nullptr));
  EXPECT_NEAR(ten - nine, 9.5 + (kShape - 1) * std::log(10.0 / 9), 0.02);  // p(u) ∝ u^(1−ν) exp(−u²/2)
}

TEST(LightTailsTest, GradientAndHessianAreThoseOfTheValue) {
  StudentAndNormal in_z;
  LightTails::InU in_u(Tails(), in_z);
  for (const double u : {-2.5, 0.1, 1.7}) {
    EXPECT_LT(CheckGradient(in_u, Vector{{u, -u}}, 1e-3).max_relative_error, 1e-7);
  }
  const Vector mode = Tails().U(Vector{{0.5, -1}});  // of the density of z, where its Hessian is diagonal
  const Matrix hessian = Tails().Hessian(mode, Vector{{(kShape + 1) / kShape, 1}}.asDiagonal());
  const double h = 1e-4;
  for (int i = 0; i < 2; ++i) {
    double unused;
    Vector up, down;
    ASSERT_TRUE(in_u.Evaluate(mode + h * Vector::Unit(2, i), &unused, &up) &&
                in_u.Evaluate(mode - h * Vector::Unit(2, i), &unused, &down));
    EXPECT_TRUE(Near(hessian.col(i), (up - down) / (2 * h), 1e-6));
  }
}

TEST(LightTailsTest, ChainsVisitTheTailsAsOftenAsTheyShould) {
  StudentAndNormal in_z;
  const auto space =
      SpaceForSampling(Vector{{1 / kShape, 0}}, Vector{{0.5, -1}}, Vector{{(kShape + 1) / kShape, 1}}.asDiagonal());
  ASSERT_TRUE(space.ok());
  LightTails::InU in_u(space->tails, in_z);
  HmcState state;
  ASSERT_TRUE(StartHmc(in_u, space->whitened, Vector::Zero(2), &state));
  const HmcOptions options{.warmup = 100};
  int beyond = 0;
  constexpr int kTransitions = 20000;
  while (state.iteration < options.warmup) StepHmc(in_u, space->whitened, options, 1, 1, &state);
  for (int i = 0; i < kTransitions; ++i) {
    StepHmc(in_u, space->whitened, options, 1, 1, &state);
    beyond += std::abs(space->Point(state)[0] - 0.5) > 2.776 ? 1 : 0;  // 5 % of Student's with four degrees of freedom
  }
  EXPECT_NEAR(static_cast<double>(beyond) / kTransitions, 0.05, 0.005);
  double value;
  ASSERT_TRUE(in_z.Evaluate(space->Point(state), &value, nullptr));
  EXPECT_NEAR(space->Value(state), value, 1e-9);
}

}  // namespace
}  // namespace fidelio
