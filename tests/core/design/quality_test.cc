#include "core/design/quality.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

TEST(QualityOfMeanTest, IsPositiveAndIncreasing) {
  const Vector mean = (Vector(6) << -1000, -3, -1, 0, 2, 5).finished();
  const Vector quality = QualityOfMean(mean);
  EXPECT_GT(quality[0], 0);
  for (int i = 1; i < 6; ++i) EXPECT_GT(quality[i], quality[i - 1]);
}

TEST(QualityOfMeanTest, UnitsAndZeroDoNotMatter) {
  const Vector mean = RandomNormal(50, 1, 1), quality = QualityOfMean(mean);
  EXPECT_TRUE(Near(QualityOfMean(1e6 * mean.array() - 3e7), quality, 1e-8));
  EXPECT_TRUE(Near(QualityOfMean(1e-200 * mean), quality, 1e-12));
  EXPECT_TRUE(Near(QualityOfMean(1e200 * mean), quality, 1e-12));
}

TEST(QualityOfMeanTest, IsTheSoftplusOfTheStandardisedMean) {
  const Vector mean = (Vector(4) << 1, 2, 3, 6).finished();  // average 3, standard deviation √3.5
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(QualityOfMean(mean)[i], std::log(1 + std::exp((mean[i] - 3) / std::sqrt(3.5))), 1e-14);
  }
}

TEST(QualityOfMeanTest, EqualMeansHaveEqualQuality) {
  for (const double value : {0.0, 0.1, -1e9}) {
    const Vector quality = QualityOfMean(Vector::Constant(7, value));
    EXPECT_TRUE(Near(quality, Vector::Constant(7, std::log(2)), 1e-15));
  }
  EXPECT_EQ(QualityOfMean(Vector(0)).size(), 0);
}

TEST(CheckQualityTest, WrongQualitiesAreNamed) {
  const auto invalid = absl::StatusCode::kInvalidArgument;
  Vector quality = Vector::Ones(3);
  EXPECT_TRUE(CheckQuality(quality, 3).ok());
  EXPECT_TRUE(IsError(CheckQuality(quality, 4), invalid, {"quality: 3 elements", "4 candidates"}));
  for (const double wrong : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    quality[1] = wrong;
    EXPECT_TRUE(IsError(CheckQuality(quality, 3), invalid, {"quality[1]", "positive and finite"}));
  }
}

}  // namespace
}  // namespace fidelio
