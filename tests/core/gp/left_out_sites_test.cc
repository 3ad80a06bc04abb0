#include "core/gp/left_out_sites.h"

#include <Eigen/QR>
#include <cmath>
#include <string>

#include "core/base/random.h"
#include "gtest/gtest.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

using Eigen::Index;
using Long = long double;
using LongMatrix = Eigen::Matrix<Long, Eigen::Dynamic, Eigen::Dynamic>;
using LongVector = Eigen::Matrix<Long, Eigen::Dynamic, 1>;

struct Sites {
  SiteLayout layout;
  Matrix rows;
  Vector target;

  SiteBlock Block(int b) const {
    const Index begin = static_cast<Index>(b) * layout.block_groups * layout.group_size;
    const Index n = std::min<Index>(layout.block_groups * layout.group_size, rows.rows() - begin);
    return {rows.middleRows(begin, n), target.segment(begin, n)};
  }
  LeftOutSites LeftOut(int threads = 1) const {
    auto result = LeaveOutSites(
        layout, [&](int b) { return Block(b); }, threads, "test");
    EXPECT_TRUE(result.ok()) << result.status();
    return *std::move(result);
  }
};

// Sites of one observation are nearly equal, as nodes are where the layer below is well known.
Sites RandomSites(const SiteLayout& layout, double precision, bool mixed) {
  Random random(/*seed=*/7, /*stream=*/0);
  Sites sites{.layout = layout,
              .rows = Matrix(layout.groups * layout.group_size, layout.inducing),
              .target = Vector(layout.groups * layout.group_size)};
  for (int g = 0; g < layout.groups; ++g) {
    const Vector centre = random.NormalVector(layout.inducing) / std::sqrt(layout.inducing);
    const double y = random.Normal(), root = std::sqrt(mixed && g % 3 == 0 ? 1.0 : precision);
    for (int k = 0; k < layout.group_size; ++k) {
      const Index at = g * layout.group_size + k;
      sites.rows.row(at) = root * (centre + 0.05 * random.NormalVector(layout.inducing)).transpose();
      sites.target[at] = root * y;
    }
  }
  return sites;
}

// The posterior of the other sites, factorised anew for each group, in extended precision.
LeftOutSites Refits(const Sites& sites) {
  const Index n = sites.target.size(), size = sites.layout.group_size, m = sites.layout.inducing;
  LeftOutSites result{.mean = Vector(n), .variance = Vector(n), .seen_mean = Vector(n), .seen_variance = Vector(n)};
  const auto predict = [&](Index begin, Index removed, Vector& mean, Vector& variance) {
    LongMatrix rows(m + n, m + 1);  // [I 0; U t]
    rows << LongMatrix::Identity(m, m + 1), sites.rows.cast<Long>(), sites.target.cast<Long>();
    const LongMatrix own = rows.middleRows(m + begin, size);
    rows.middleRows(m + begin, removed).setZero();
    const Eigen::HouseholderQR<LongMatrix> qr(rows);
    const LongMatrix r = qr.matrixQR().topLeftCorner(m, m).triangularView<Eigen::Upper>();
    const LongVector solution = r.triangularView<Eigen::Upper>().solve(qr.matrixQR().col(m).head(m));
    const LongMatrix half = r.transpose().triangularView<Eigen::Lower>().solve(own.leftCols(m).transpose());
    mean.segment(begin, size) = (own.leftCols(m) * solution).cast<double>();
    variance.segment(begin, size) = half.colwise().squaredNorm().transpose().cast<double>();
  };
  for (Index begin = 0; begin < n; begin += size) {
    predict(begin, size, result.mean, result.variance);
    predict(begin, 0, result.seen_mean, result.seen_variance);
  }
  return result;
}

struct SiteCase {
  std::string name;
  SiteLayout layout;
  bool mixed = false;
};

class LeftOutSitesTest : public ::testing::TestWithParam<SiteCase> {};

TEST_P(LeftOutSitesTest, EqualsFactorisingTheOtherSitesAnew) {
  for (const double precision : {1e-3, 1.0, 1e4, 1e8, 1e12}) {
    const Sites sites = RandomSites(GetParam().layout, precision, GetParam().mixed);
    const LeftOutSites actual = sites.LeftOut(), expected = Refits(sites);
    for (Index p = 0; p < sites.target.size(); ++p) {
      const double sd = std::sqrt(1 + expected.variance[p]);  // of an observation there
      EXPECT_NEAR(actual.mean[p], expected.mean[p], 1e-7 * sd) << precision << " " << p;
      EXPECT_NEAR(actual.variance[p] / expected.variance[p], 1, 1e-6) << precision << " " << p;
      EXPECT_NEAR(actual.seen_mean[p], expected.seen_mean[p], 1e-7 * sd) << precision << " " << p;
      EXPECT_NEAR(actual.seen_variance[p] / expected.seen_variance[p], 1, 1e-6) << precision << " " << p;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, LeftOutSitesTest,
    ::testing::Values(
        SiteCase{"FewerSitesThanInducing", {.inducing = 20, .groups = 13}},
        SiteCase{"AsManyAsInducing", {.inducing = 16, .groups = 16, .block_groups = 5}},
        SiteCase{"ManySites", {.inducing = 8, .groups = 150, .block_groups = 16}},
        SiteCase{"NoisyAmongExact", {.inducing = 16, .groups = 40, .block_groups = 7}, true},
        SiteCase{"GroupsOfSeveral", {.inducing = 16, .groups = 9, .group_size = 5, .block_groups = 2}},
        SiteCase{"ManyGroupsOfSeveral", {.inducing = 10, .groups = 60, .group_size = 3, .block_groups = 8}, true}),
    [](const auto& test) { return test.param.name; });

TEST(LeftOutSitesEdgeTest, TheOnlyGroupIsLeftWithThePrior) {
  const Sites sites = RandomSites({.inducing = 6, .groups = 1, .group_size = 3}, 1e10, false);
  const LeftOutSites actual = sites.LeftOut();
  for (Index p = 0; p < 3; ++p) {
    const double prior = sites.rows.row(p).squaredNorm();
    EXPECT_NEAR(actual.mean[p], 0, 1e-8 * std::sqrt(prior));
    EXPECT_NEAR(actual.variance[p] / prior, 1, 1e-8);
  }
}

TEST(LeftOutSitesEdgeTest, WithoutSitesThereIsNothing) {
  const Sites sites = RandomSites({.inducing = 6, .groups = 0}, 1, false);
  EXPECT_EQ(sites.LeftOut().mean.size(), 0);
}

TEST(LeftOutSitesEdgeTest, WithoutInducingVariablesNothingIsKnown) {
  const Sites sites{.layout = {.inducing = 0, .groups = 3}, .rows = Matrix(3, 0), .target = Vector::Ones(3)};
  EXPECT_EQ(sites.LeftOut().mean, Vector::Zero(3));
  EXPECT_EQ(sites.LeftOut().variance, Vector::Zero(3));
}

TEST(LeftOutSitesEdgeTest, DoesNotDependOnThreads) {
  const Sites sites = RandomSites({.inducing = 8, .groups = 90, .group_size = 2, .block_groups = 4}, 1e6, true);
  const LeftOutSites one = sites.LeftOut(1), three = sites.LeftOut(3);
  EXPECT_EQ(one.mean, three.mean);
  EXPECT_EQ(one.variance, three.variance);
}

TEST(LeftOutSitesEdgeTest, OverflowIsAnError) {
  Sites sites = RandomSites({.inducing = 4, .groups = 5}, 1, false);
  sites.rows *= 1e200;
  EXPECT_TRUE(IsError(LeaveOutSites(
                          sites.layout, [&](int b) { return sites.Block(b); }, 1, "level 2")
                          .status(),
                      absl::StatusCode::kInternal, {"level 2", "not finite"}));
}

}  // namespace
}  // namespace fidelio
