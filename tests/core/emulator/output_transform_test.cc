#include "core/emulator/output_transform.h"

#include <cmath>
#include <limits>
#include <vector>

#include "core/base/normal.h"
#include "gtest/gtest.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

using Kind = OutputTransform::Kind;

Dataset DataOf(const std::vector<Vector>& outputs) {
  Dataset data;
  for (const Vector& y : outputs) {
    data.levels.push_back({.x = Vector::LinSpaced(y.size(), 0, 1), .y = y, .noise_variance = {}});
  }
  return data;
}

std::vector<OutputTransform> Transforms() {
  return {{.kind = Kind::kLog},
          {.kind = Kind::kLog, .lower = -3},
          {.kind = Kind::kLogit},
          {.kind = Kind::kLogit, .lower = -2, .upper = 10}};
}

// E[h(z)] and Var[h(z)] by many small steps.
TransformedMoments NaiveMoments(const OutputTransform& transform, double mean, double variance) {
  constexpr int kSteps = 400000;
  const double sd = std::sqrt(variance), reach = 12;
  double total = 0, first = 0, second = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double u = reach * (2.0 * i / kSteps - 1) + sd, weight = std::exp(-0.5 * u * u);
    const double y = transform.Backward(mean + sd * u);
    total += weight;
    first += weight * y;
    second += weight * y * y;
  }
  first /= total;
  return {.mean = first, .variance = second / total - first * first, .mean_bar = 0, .variance_bar = 0};
}

TEST(OutputTransformTest, BackwardInvertsForward) {
  for (const OutputTransform& transform : Transforms()) {
    for (const double share : {1e-9, 0.01, 0.3, 0.5, 0.99, 1 - 1e-9}) {
      const double y = transform.lower + share * (transform.upper - transform.lower);
      EXPECT_NEAR(transform.Backward(transform.Forward(y)), y, 1e-14 * (1 + std::abs(y)));
    }
  }
}

TEST(OutputTransformTest, SlopeIsTheDerivativeOfForward) {
  for (const OutputTransform& transform : Transforms()) {
    for (const double share : {0.1, 0.5, 0.8}) {
      const double y = transform.lower + share * (transform.upper - transform.lower), h = 1e-5;
      EXPECT_NEAR((transform.Forward(y + h) - transform.Forward(y - h)) / (2 * h) / transform.Slope(y), 1, 1e-7);
    }
  }
}

TEST(OutputTransformTest, MomentsEqualFineQuadrature) {
  for (const OutputTransform& transform : Transforms()) {
    for (const double mean : {-4.0, 0.0, 0.7, 3.0}) {
      for (const double sd : {1e-3, 0.2, 1.0, 2.5}) {
        const TransformedMoments actual = transform.Moments(mean, sd * sd);
        const TransformedMoments expected = NaiveMoments(transform, mean, sd * sd);
        const double spread = std::sqrt(actual.variance);
        EXPECT_NEAR(actual.mean, expected.mean, 1e-8 * (1 + std::abs(expected.mean))) << mean << " " << sd;
        EXPECT_NEAR(actual.variance, expected.variance, 1e-6 * actual.variance + 1e-9 * (1 + spread))
            << mean << " " << sd;
      }
    }
  }
}

TEST(OutputTransformTest, AWideGaussianUnderLogitLiesNearlyAtTheBorders) {
  const OutputTransform transform{.kind = Kind::kLogit};
  const TransformedMoments moments = transform.Moments(20, 400);
  // P(z > 0) = Φ(1), but for the width of the sigmoid beside 20.
  EXPECT_NEAR(moments.mean, NormalCdf(1), 2e-3);
  EXPECT_NEAR(moments.variance, NormalCdf(1) * NormalCdf(-1), 2e-2);
  EXPECT_NEAR(transform.Moments(1e4, 1e8).mean, NormalCdf(1), 1e-2);
}

TEST(OutputTransformTest, GradientsOfTheMeanEqualDifferences) {
  for (const OutputTransform& transform : Transforms()) {
    for (const double mean : {-3.0, 0.2, 2.0}) {
      for (const double variance : {0.01, 1.0, 6.0}) {
        const TransformedMoments at = transform.Moments(mean, variance);
        const double h = 1e-4, scale = std::abs(at.mean_bar);
        const auto value = [&](double m, double v) { return transform.Moments(m, v).mean; };
        EXPECT_NEAR((value(mean + h, variance) - value(mean - h, variance)) / (2 * h), at.mean_bar, 1e-6 * scale);
        EXPECT_NEAR((value(mean, variance + h) - value(mean, variance - h)) / (2 * h), at.variance_bar, 1e-6 * scale);
      }
    }
  }
}

TEST(OutputTransformTest, NothingOverflows) {
  for (const OutputTransform& transform : Transforms()) {
    for (const double z : {-1e300, -1e4, 1e4, 1e300}) EXPECT_TRUE(std::isfinite(transform.Backward(z)));
    for (const double mean : {-1e5, 0.0, 1e5}) {
      for (const double variance : {1e-12, 1.0, 1e6}) {
        const TransformedMoments moments = transform.Moments(mean, variance);
        EXPECT_TRUE(std::isfinite(moments.mean) && std::isfinite(moments.variance)) << mean << " " << variance;
        EXPECT_TRUE(std::isfinite(moments.mean_bar) && std::isfinite(moments.variance_bar));
        EXPECT_GE(moments.variance, 0);
      }
    }
  }
}

TEST(TransformOutputsTest, OutputsAtABorderGoHalfWayToTheNearestOther) {
  const Dataset data = DataOf({Vector{{0, 0.4, 1}}, Vector{{0.1, 0.98}}});
  const auto logit = TransformOutputs(data, {.kind = Kind::kLogit});
  ASSERT_TRUE(logit.ok()) << logit.status();
  EXPECT_NEAR(logit->data.levels[0].y[0], std::log(0.05 / 1.0), 1e-12);
  EXPECT_NEAR(logit->data.levels[0].y[1], std::log(0.4 / 0.6), 1e-12);
  EXPECT_NEAR(logit->data.levels[0].y[2], std::log(1.0 / 0.01), 1e-12);
  EXPECT_NEAR(logit->data.levels[1].y[0], std::log(0.1 / 0.9), 1e-12);
  const auto log = TransformOutputs(data, {.kind = Kind::kLog});
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_NEAR(log->data.levels[0].y[0], std::log(0.05), 1e-12);
}

TEST(TransformOutputsTest, GivenNoiseIsScaledByTheSquareOfTheSlope) {
  Dataset data = DataOf({Vector{{2, 5}}});
  data.levels[0].noise_variance = Vector{{0.1, 0.2}};
  const auto log = TransformOutputs(data, {.kind = Kind::kLog});
  ASSERT_TRUE(log.ok());
  EXPECT_NEAR(log->data.levels[0].noise_variance[0], 0.1 / 4, 1e-15);
  EXPECT_NEAR(log->data.levels[0].noise_variance[1], 0.2 / 25, 1e-15);
}

TEST(TransformOutputsTest, BadOutputsAndBordersNameFieldValueAndRule) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  const Dataset data = DataOf({Vector{{0.5, 0.6}}, Vector{{0.7, -1}}});
  EXPECT_TRUE(IsError(TransformOutputs(data, {.kind = Kind::kLog}).status(), kInvalid,
                      {"levels[1].y[1]: -1, want at least 0 under the log transform"}));
  EXPECT_TRUE(IsError(TransformOutputs(data, {.kind = Kind::kLogit, .lower = -2, .upper = 0.6}).status(), kInvalid,
                      {"levels[1].y[0]: 0.7, want -2 to 0.6 under the logit transform"}));
  EXPECT_TRUE(IsError(TransformOutputs(data, {.kind = Kind::kLogit, .lower = 1, .upper = 1}).status(), kInvalid,
                      {"transform.upper: 1, want a finite number above transform.lower, 1"}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(
      IsError(TransformOutputs(data, {.kind = Kind::kLog, .lower = nan}).status(), kInvalid, {"transform.lower: nan"}));
  EXPECT_TRUE(IsError(TransformOutputs(DataOf({Vector{{0, 0}}}), {.kind = Kind::kLog}).status(), kInvalid,
                      {"all outputs lie at a bound of the transform"}));
}

}  // namespace
}  // namespace fidelio
