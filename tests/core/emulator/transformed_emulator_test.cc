// TransformedEmulator over known mixtures; over fitted models: core/dgp/moments/transformed_mf_dgp_test.cc.
#include "core/emulator/transformed_emulator.h"

#include <cmath>
#include <memory>
#include <utility>

#include "core/base/normal.h"
#include "core/emulator/skewness.h"
#include "gtest/gtest.h"
#include "tests/support/known_mixture.h"
#include "tests/support/near.h"

namespace fidelio {
namespace {

using Kind = OutputTransform::Kind;

// The bounds of kBoundedOf are so far away that it is nearly a logarithm.
constexpr OutputTransform kLogOf{.kind = Kind::kLog, .lower = 1};
constexpr OutputTransform kBoundedOf{.kind = Kind::kLogit, .lower = -2, .upper = 1e6};

// What is added to z, so that outputs are about the same.
double Offset(const OutputTransform& transform) { return transform.kind == Kind::kLog ? 0 : -12; }

// Observed z from 1 to 3 above the offset, so that the range that they support ends at 0 and 4.
Dataset ObservedZ(double offset) {
  Dataset data;
  data.levels.push_back({.x = Vector{{0.0, 0.4, 0.7, 1.0}}, .y = Vector{{1, 3, 2.5, 2}}, .noise_variance = {}});
  data.levels[0].y.array() += offset;
  return data;
}

KnownMixture Wide(double offset) {
  KnownMixture wide;
  wide.weight = Vector{{0.9, 0.1}};
  wide.mean = Vector{{2, 2.2}};
  wide.slope = Vector{{1, 0.7}};
  wide.variance = Vector{{0.04, 30}};
  wide.growth = Vector{{0.3, -0.2}};
  wide.mean.array() += offset;
  wide.known = ObservedZ(offset);
  return wide;
}

TransformedEmulator Transformed(const OutputTransform& transform, const KnownMixture& base) {
  return TransformedEmulator(transform, std::make_unique<KnownMixture>(base));
}

// At 0 and ½ the median of z lies among the observations, at −4 below and at 6 above them.
Matrix Inputs() { return Vector{{0, 0.5, -4, 6}}; }

class BoundedTransformTest : public ::testing::TestWithParam<OutputTransform> {};

TEST_P(BoundedTransformTest, MeansStayWhereTheObservationsSupportThem) {
  const OutputTransform& transform = GetParam();
  const double offset = Offset(transform);
  const auto p = Transformed(transform, Wide(offset)).Predict(Vector{{0, 0.5}}, {});
  ASSERT_TRUE(p.ok()) << p.status();
  for (int i = 0; i < 2; ++i) {
    EXPECT_GT(p->mean[i], transform.Backward(offset));
    EXPECT_LT(p->mean[i], transform.Backward(offset + 4));
    EXPECT_LT(std::sqrt(p->variance[i]), transform.Backward(offset + 4) - transform.Backward(offset));
    EXPECT_LT(std::abs(p->mean[i] - p->median[i]), 0.5 * (p->median[i] - transform.lower));
  }
}

TEST_P(BoundedTransformTest, MediansAndQuantilesAreTheImagesOfThoseOfZ) {
  const OutputTransform& transform = GetParam();
  const KnownMixture base = Wide(Offset(transform));
  const auto p = Transformed(transform, base).Predict(Inputs(), {.quantiles = {0.5, 0.999}});
  ASSERT_TRUE(p.ok()) << p.status();
  const Matrix z = MixtureQuantiles(*base.PredictMixture(Inputs(), {}), {0.5, 0.999});
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(p->median[i] / transform.Backward(z(i, 0)), 1, 1e-9);
    EXPECT_NEAR(p->median[i] / p->quantiles(i, 0), 1, 1e-9);
    EXPECT_NEAR(p->quantiles(i, 1) / transform.Backward(z(i, 1)), 1, 1e-9) << "no bound of quantiles";
  }
}

TEST_P(BoundedTransformTest, DerivativesOfTheMeanAgreeWithDifferences) {
  const TransformedEmulator model = Transformed(GetParam(), Wide(Offset(GetParam())));
  const double h = 1e-5;
  const auto p = model.Predict(Inputs(), {.input_gradient = true});
  const auto up = model.Predict(Inputs().array() + h, {}), down = model.Predict(Inputs().array() - h, {});
  ASSERT_TRUE(p.ok() && up.ok() && down.ok());
  EXPECT_TRUE(RelativelyNear(p->input_gradient, (up->mean - down->mean) / (2 * h), 1e-6))
      << p->input_gradient.transpose() << " beside " << ((up->mean - down->mean) / (2 * h)).transpose();
}

TEST_P(BoundedTransformTest, LeftOutObservationsHaveTheSameBound) {
  const OutputTransform& transform = GetParam();
  const KnownMixture base = Wide(Offset(transform));
  const auto left_out = Transformed(transform, base).LeaveOneOutPredictions();
  ASSERT_TRUE(left_out.ok()) << left_out.status();
  const LeaveOneOut& at = left_out->front();
  const auto p = Transformed(transform, base).Predict(base.known.levels[0].x, {});
  EXPECT_TRUE(RelativelyNear(at.mean, p->mean, 1e-12));
  EXPECT_TRUE(RelativelyNear(at.variance, p->variance, 1e-12));
  EXPECT_TRUE(RelativelyNear(at.median, p->median, 1e-12));
  EXPECT_TRUE(RelativelyNear(at.mean_cdf, p->mean_cdf, 1e-12));
}

TEST_P(BoundedTransformTest, ConditionMovesTheRange) {
  const OutputTransform& transform = GetParam();
  const TransformedEmulator model = Transformed(transform, Wide(Offset(transform)));
  Dataset more = ObservedZ(Offset(transform));
  more.levels[0].y[1] += 4;
  for (double& z : more.levels[0].y) z = transform.Backward(z);
  const auto conditioned = model.Condition(more, 1);
  ASSERT_TRUE(conditioned.ok()) << conditioned.status();
  const Matrix x = Matrix::Zero(1, 1);
  EXPECT_GT((*conditioned)->Predict(x, {})->mean[0], 1.2 * model.Predict(x, {})->mean[0]);
  EXPECT_NEAR((*conditioned)->Predict(x, {})->median[0], model.Predict(x, {})->median[0], 1e-9);
}

// No range of observations may turn a confident prediction outside it into a value without uncertainty.
TEST_P(BoundedTransformTest, PredictionsOutsideTheObservationsKeepTheirMoments) {
  KnownMixture narrow = Wide(Offset(GetParam()));
  narrow.variance = Vector{{0.01, 0.01}};
  narrow.growth.setZero();
  const auto z = narrow.PredictMixture(Inputs(), {});
  const auto p = Transformed(GetParam(), narrow).Predict(Inputs(), {});
  ASSERT_TRUE(p.ok()) << p.status();
  for (int i = 0; i < 4; ++i) {
    Mixture y{.weight = z->weight, .mean = z->mean.col(i), .variance = z->variance.col(i)};
    for (int s = 0; s < 2; ++s) {
      const TransformedMoments moments = GetParam().Moments(y.mean(s, 0), y.variance(s, 0));
      y.mean(s, 0) = moments.mean;
      y.variance(s, 0) = moments.variance;
    }
    EXPECT_NEAR(p->mean[i] / MixtureMean(y)[0], 1, i < 2 ? 1e-12 : 0.1);
    EXPECT_NEAR(std::sqrt(p->variance[i] / MixtureVariance(y, MixtureMean(y))[0]), 1, i < 2 ? 1e-12 : 0.2);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, BoundedTransformTest, testing::Values(kLogOf, kBoundedOf),
                         [](const auto& test) { return test.param.kind == Kind::kLog ? "Log" : "Bounded"; });

TEST(SkewedPredictionTest, AMeanOutsideTheCentralHalfIsWarnedAbout) {
  KnownMixture base = Wide(0);
  base.known.levels[0].y = Vector{{-3, 5, 1, 2}};
  base.weight = Vector{{0.5, 0.5}};
  base.variance = Vector{{4, 4}};
  base.growth.setZero();
  base.slope.setZero();
  base.mean.setConstant(1);  // e^1 beside a mean of about e^3
  const TransformedEmulator model = Transformed({.kind = Kind::kLog}, base);
  const auto p = model.Predict(Vector{{0, 1}}, {});
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_NEAR(p->mean_cdf[0], NormalCdf((std::log(p->mean[0]) - 1) / 2), 1e-12);
  EXPECT_NEAR(p->median[0], std::exp(1), 1e-9);
  ASSERT_TRUE(MeanAndMedianPart(p->mean_cdf[0])) << p->mean_cdf[0];
  ASSERT_EQ(PredictionWarnings(*p).size(), 1);
  EXPECT_EQ(PredictionWarnings(*p)[0].find("At 2 of 2 inputs, the predicted mean lies outside"), 0)
      << PredictionWarnings(*p)[0];
  EXPECT_NE(PredictionWarnings(*p)[0].find("median 2.718"), std::string::npos);
  EXPECT_TRUE(PredictionWarnings(*base.Predict(Vector{{0, 1}}, {})).empty()) << "Gaussians are not skewed";
}

}  // namespace
}  // namespace fidelio
