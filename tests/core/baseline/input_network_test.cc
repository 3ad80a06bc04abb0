#include "core/baseline/input_network.h"

#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

TEST(InputNetworkTest, WithoutUnitsOrOutputWeightsItIsTheIdentity) {
  const Matrix x = RandomNormal(7, 3, 1);
  EXPECT_EQ((InputNetwork{.dimension = 3, .hidden = 0}.Forward(Vector(0), x, nullptr)), x);
  const InputNetwork network{.dimension = 3, .hidden = 2};
  Vector theta = RandomNormal(network.size(), 1, 2);
  theta.tail(6).setZero();
  EXPECT_EQ(network.Forward(theta, x, nullptr), x);
}

TEST(InputNetworkTest, GradientAgreesWithDifferences) {
  const InputNetwork network{.dimension = 2, .hidden = 3};
  const Vector theta = RandomNormal(network.size(), 1, 3);
  const Matrix x = RandomNormal(5, 2, 4), h_bar = RandomNormal(5, 2, 5);
  const auto value = [&](const Vector& t, const Matrix& at) {
    return network.Forward(t, at, nullptr).cwiseProduct(h_bar).sum();
  };
  Matrix units;
  network.Forward(theta, x, &units);
  Vector gradient = Vector::Zero(theta.size());
  const Matrix x_bar = network.Reverse(theta, x, units, h_bar, &gradient);
  constexpr double kStep = 1e-5;
  for (int i = 0; i < theta.size(); ++i) {
    Vector up = theta, down = theta;
    up[i] += kStep;
    down[i] -= kStep;
    EXPECT_NEAR(gradient[i], (value(up, x) - value(down, x)) / (2 * kStep), 1e-8) << i;
  }
  for (int i = 0; i < x.size(); ++i) {
    Matrix up = x, down = x;
    up.reshaped()[i] += kStep;
    down.reshaped()[i] -= kStep;
    EXPECT_NEAR(x_bar.reshaped()[i], (value(theta, up) - value(theta, down)) / (2 * kStep), 1e-8) << i;
  }
}

}  // namespace
}  // namespace fidelio
