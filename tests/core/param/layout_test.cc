#include "core/param/layout.h"

#include "gtest/gtest.h"
#include "tests/support/near.h"

namespace fidelio {
namespace {

ParameterLayout Example() {
  ParameterLayout layout;
  layout.Add("a", 2, Prior::Normal(1, 2));
  layout.Add("b", 1, Prior::Student(-3, 0.5, 4));
  layout.Add("c", 3, Prior::InverseGamma(0.2, 1.5, 0.5));
  return layout;
}

TEST(ParameterLayoutTest, BlocksFollowEachOther) {
  ParameterLayout layout;
  EXPECT_EQ(layout.size(), 0);
  EXPECT_EQ(layout.Add("a", 2, Prior::Normal(0, 1)), 0);
  EXPECT_EQ(layout.Add("b", 1, Prior::Normal(0, 1)), 2);
  EXPECT_EQ(layout.Add("c", 3, Prior::Normal(0, 1)), 3);
  EXPECT_EQ(layout.size(), 6);
  ASSERT_EQ(layout.blocks().size(), 3u);
  EXPECT_EQ(layout.blocks()[2].name, "c");
  EXPECT_EQ(layout.blocks()[2].offset, 3);
  EXPECT_EQ(layout.blocks()[2].size, 3);
}

TEST(ParameterLayoutTest, OnlyStudentPriorsHaveInverseShapes) {
  EXPECT_EQ(Example().InverseShapes(), (Vector{{0, 0, 0.25, 0, 0, 0}}));
}

TEST(ParameterLayoutTest, CentresAndScalesAreThoseOfThePriors) {
  const ParameterLayout layout = Example();
  EXPECT_EQ(layout.Centres(), (Vector{{1, 1, -3, 0.2, 0.2, 0.2}}));
  EXPECT_EQ(layout.Scales(), (Vector{{2, 2, 0.5, 1.5, 1.5, 1.5}}));
}

TEST(ParameterLayoutTest, NegativeLogPriorIsTheSumOverParameters) {
  const ParameterLayout layout = Example();
  const Vector theta{{0.5, 2, -1, -0.3, 0.4, 3}};
  Vector expected_gradient = Vector::Zero(6);
  double expected = 0;
  for (const ParameterBlock& block : layout.blocks()) {
    for (int i = block.offset; i < block.offset + block.size; ++i) {
      expected += block.prior.NegativeLog(theta[i], &expected_gradient[i]);
    }
  }
  Vector gradient = Vector::Constant(6, 10);
  EXPECT_NEAR(layout.NegativeLogPrior(theta, gradient), expected, 1e-14);
  EXPECT_TRUE(Near(gradient, expected_gradient.array() + 10, 1e-14));
}

TEST(ParameterLayoutTest, LogNormaliserIsTheSumOverParameters) {
  const ParameterLayout layout = Example();
  const double expected = 2 * Prior::Normal(1, 2).LogNormaliser() + Prior::Student(-3, 0.5, 4).LogNormaliser() +
                          3 * Prior::InverseGamma(0.2, 1.5, 0.5).LogNormaliser();
  EXPECT_NEAR(layout.LogNormaliser(), expected, 1e-14);
}

TEST(ParameterLayoutTest, LogPriorFromABlockOnLeavesOutTheOnesBefore) {
  const ParameterLayout layout = Example();
  const Vector theta{{0.5, 2, -1, -0.3, 0.4, 3}};
  Vector gradient = Vector::Zero(6);
  EXPECT_NEAR(layout.LogPriorFrom(0, theta), layout.LogNormaliser() - layout.NegativeLogPrior(theta, gradient), 1e-13);
  const Prior first = Prior::Normal(1, 2);
  double unused = 0;
  const double left_out = 2 * first.LogNormaliser() - first.NegativeLog(0.5, &unused) - first.NegativeLog(2, &unused);
  EXPECT_NEAR(layout.LogPriorFrom(2, theta), layout.LogPriorFrom(0, theta) - left_out, 1e-13);
}

TEST(ParameterLayoutTest, AnEmptyLayoutHasNoParametersAndNoPrior) {
  const ParameterLayout layout;
  Vector gradient;
  EXPECT_EQ(layout.Centres().size(), 0);
  EXPECT_EQ(layout.NegativeLogPrior(Vector(), gradient), 0);
}

}  // namespace
}  // namespace fidelio
