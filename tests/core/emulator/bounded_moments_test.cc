#include "core/emulator/bounded_moments.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace fidelio {
namespace {

using Kind = OutputTransform::Kind;

std::vector<OutputTransform> BoundedTransforms() {
  return {{.kind = Kind::kLog}, {.kind = Kind::kLog, .lower = -3}, {.kind = Kind::kLogit, .lower = -2, .upper = 10}};
}

// E[h(z')] and Var[h(z')] by many small steps.
TransformedMoments SummedMoments(const OutputTransform& transform, double mean, double sd, const ZRange& range) {
  constexpr int kSteps = 1000000;
  double total = 0, first = 0, second = 0;
  const auto value = [&](double u) { return transform.Backward(std::clamp(mean + sd * u, range.lower, range.upper)); };
  const double centre = value(0);
  for (int i = 0; i <= kSteps; ++i) {
    const double u = 12 * (2.0 * i / kSteps - 1), weight = std::exp(-0.5 * u * u), y = value(u) - centre;
    total += weight;
    first += weight * y;
    second += weight * y * y;
  }
  first /= total;
  return {.mean = centre + first, .variance = second / total - first * first};
}

TEST(BoundedMomentsTest, EqualFineSums) {
  for (const OutputTransform& transform : BoundedTransforms()) {
    for (const double mean : {-6.0, -1.0, 0.4, 3.0, 9.0}) {
      for (const double sd : {0.05, 0.6, 2.5, 6.0, 40.0}) {
        const ZRange range{.lower = -1.5, .upper = 3.2};
        const TransformedMoments actual = BoundedMoments(transform, mean, sd * sd, range).moments;
        const TransformedMoments expected = SummedMoments(transform, mean, sd, range);
        const double unit = transform.Backward(range.upper) - transform.lower;
        EXPECT_NEAR(actual.mean, expected.mean, 1e-9 * unit) << mean << " " << sd;
        EXPECT_NEAR(actual.variance, expected.variance, 1e-9 * unit * unit) << mean << " " << sd;
      }
    }
  }
}

TEST(BoundedMomentsTest, DerivativesEqualDifferences) {
  for (const OutputTransform& transform : BoundedTransforms()) {
    for (const double mean : {-2.0, 0.4, 3.5}) {
      for (const double variance : {0.1, 1.0, 9.0, 900.0}) {
        const ZRange range{.lower = -1, .upper = 3};
        const auto at = BoundedMoments(transform, mean, variance, range);
        const double h = 1e-5, unit = transform.Backward(range.upper) - transform.lower;
        const auto slope = [&](double dm, double dv, double da, double db) {
          const auto value = [&](double k) {
            return BoundedMoments(transform, mean + k * dm, variance + k * dv,
                                  {.lower = range.lower + k * da, .upper = range.upper + k * db})
                .moments.mean;
          };
          return (value(h) - value(-h)) / (2 * h);
        };
        EXPECT_NEAR(slope(1, 0, 0, 0), at.moments.mean_bar, 1e-8 * unit) << mean << " " << variance;
        EXPECT_NEAR(slope(0, 1, 0, 0), at.moments.variance_bar, 1e-7 * unit) << mean << " " << variance;
        EXPECT_NEAR(slope(0, 0, 1, 0), at.lower_bar, 1e-8 * unit) << mean << " " << variance;
        EXPECT_NEAR(slope(0, 0, 0, 1), at.upper_bar, 1e-8 * unit) << mean << " " << variance;
      }
    }
  }
}

TEST(BoundedMomentsTest, AreContinuousWhereTheRangeBeginsToMatter) {
  for (const OutputTransform& transform : BoundedTransforms()) {
    const double mean = 1, variance = 0.25;
    const auto free = transform.Moments(mean, variance);
    for (const double reach : {8.0, 10.0}) {  // in standard deviations: one on each side of the switch
      const auto at =
          BoundedMoments(transform, mean, variance, {.lower = mean - 0.5 * reach, .upper = mean + 0.5 * reach});
      EXPECT_NEAR(at.moments.mean / free.mean, 1, 1e-11);
      EXPECT_NEAR(at.moments.variance / free.variance, 1, 1e-9);
      EXPECT_NEAR(at.moments.variance_bar / free.variance_bar, 1, 1e-8);
    }
  }
}

TEST(BoundedMomentsTest, NothingOverflowsOrLeavesTheRange) {
  for (const OutputTransform& transform : BoundedTransforms()) {
    for (const double end : {3.0, 500.0}) {
      const ZRange range{.lower = -end, .upper = end};
      for (const double mean : {-1e5, 0.0, 1e5}) {
        for (const double variance : {1e-12, 1.0, 1e6, 1e12}) {
          const auto at = BoundedMoments(transform, mean, variance, range);
          EXPECT_GE(at.moments.mean, transform.Backward(range.lower) - 1e-12);
          EXPECT_LE(at.moments.mean, transform.Backward(range.upper) * (1 + 1e-12));
          EXPECT_TRUE(at.moments.variance >= 0 && std::isfinite(at.moments.variance)) << mean << " " << variance;
          EXPECT_TRUE(std::isfinite(at.moments.mean_bar) && std::isfinite(at.moments.variance_bar));
          EXPECT_TRUE(std::isfinite(at.lower_bar) && std::isfinite(at.upper_bar));
        }
      }
    }
  }
}

}  // namespace
}  // namespace fidelio
