#include "core/dgp/moments/output_units.h"

#include <cmath>
#include <memory>

#include "core/dgp/moments/moment_objective.h"
#include "core/dgp/moments/moment_recursion.h"
#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/small_data.h"

namespace fidelio {
namespace {

// A structure of the highest level alone, in its own units and in those of level 0.
class OutputUnitsTest : public ::testing::Test {
 protected:
  OutputUnitsTest() {
    data_ = SmallData({12, 9}, 2);
    data_.levels[1].y = 50 * data_.levels[1].y.array() + 7;
    own_ = ScalingOf(data_, 1);
    model_ = ScalingOf(data_, 0);
    units_ = UnitsOf(own_, model_);
    Recipe recipe = DefaultRecipe(KernelFamily::kRbf);
    recipe.first_level = 1;
    in_own_ = std::make_shared<const MomentModel>(ScaleData(data_, 1, own_), recipe);
    in_model_ = std::make_shared<const MomentModel>(ScaleData(data_, 1, model_), InUnits(recipe, units_));
  }

  Dataset data_;
  Scaling own_, model_;
  OutputUnits units_;
  std::shared_ptr<const MomentModel> in_own_, in_model_;
};

TEST_F(OutputUnitsTest, LikelihoodsDifferByTheUnitAlone) {
  Vector theta = in_own_->layout.parameters.Centres();
  theta.array() += 0.1;
  MomentRecursion own(in_own_), model(in_model_);
  ASSERT_TRUE(own.Forward(theta).ok());
  ASSERT_TRUE(model.Forward(InUnits(theta, in_own_->layout, units_)).ok());
  EXPECT_GT(std::abs(std::log(units_.ratio)), 1);
  EXPECT_NEAR(model.log_likelihood(), own.log_likelihood() - 9 * std::log(units_.ratio), 1e-8);
}

TEST_F(OutputUnitsTest, PriorsSayTheSameInBothUnits) {
  MomentObjective own(in_own_), model(in_model_);
  Vector theta = in_own_->layout.parameters.Centres();
  theta.array() -= 0.3;
  // In units of the priors' scales, the parameters are the same.
  const Vector z = own.Whitened(theta);
  EXPECT_TRUE(Near(model.Whitened(InUnits(theta, in_own_->layout, units_)), z, 1e-12));
  double a, b;
  ASSERT_TRUE(own.Evaluate(z, &a, nullptr));
  ASSERT_TRUE(model.Evaluate(z, &b, nullptr));
  EXPECT_NEAR(b - a, 9 * std::log(units_.ratio), 1e-8);
}

}  // namespace
}  // namespace fidelio
