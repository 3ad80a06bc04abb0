#include "core/neighbour/neighbour_stack.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <vector>

#include "core/dgp/moments/moment_joint.h"
#include "gtest/gtest.h"
#include "tests/core/neighbour/stack_cases.h"
#include "tests/support/eigenvalues.h"
#include "tests/support/kernel_names.h"
#include "tests/support/naive_kernel.h"
#include "tests/support/near.h"

namespace fidelio {
namespace {

using Eigen::Index;

// Points that have reached a level.
struct Reached {
  Matrix columns;
  std::vector<std::vector<Stencil>> stencils;
  std::vector<ReachedPoint> points;

  Reached(const NeighbourStack& stack, const Matrix& x, int level) : columns(x.transpose()), stencils(x.rows()) {
    for (Index i = 0; i < x.rows(); ++i) {
      stencils[i] = stack.Reach(columns.col(i).data(), level);
      points.push_back({columns.col(i).data(), stencils[i].data()});
    }
  }
  Vector Means(int level) const {
    Vector means(static_cast<Index>(points.size()));
    for (Index i = 0; i < means.size(); ++i) means[i] = points[i].at[level].mean;
    return means;
  }
};

struct StackCase {
  KernelFamily kernel;
  int dimension;
  bool given_noise;
  int centres = 0;
};

class NeighbourStackTest : public ::testing::TestWithParam<StackCase> {
 protected:
  // The joint posterior of level `level` by the model without neighbours; the data above it left out.
  void Exact(Dataset data, int level, const Matrix& x, Vector& mean, Matrix& covariance) const {
    const Scaling scaling = ScaleData(data).scaling;
    data.levels.resize(level + 1);
    const auto model = std::make_shared<const MomentModel>(ScaleData(data, 0, scaling), PlainRecipe(GetParam().kernel));
    MomentRecursion recursion(model);
    const auto posterior = MomentPosterior::Build(recursion, ExactTheta(data));
    ASSERT_TRUE(posterior.ok()) << posterior.status();
    const MomentQueries queries(*model, x);
    MomentJoint joint(*posterior, queries, std::vector<int>(x.rows(), level));
    joint.Under(0, mean, covariance);
  }
};

TEST_P(NeighbourStackTest, IsTheExactProcessWhenAllAreNeighbours) {
  const Dataset data = StackData({60, 40}, GetParam().dimension, GetParam().given_noise);
  const auto stack = MakeStack(data, 2, 1000, GetParam().kernel, GetParam().centres);
  const Matrix x = SmallQueries(9, GetParam().dimension);
  for (const int level : {0, 1}) {
    SCOPED_TRACE(level);
    Vector mean;
    Matrix covariance;
    Exact(data, level, x, mean, covariance);
    const Reached reached(*stack, x, level);
    EXPECT_TRUE(Near(reached.Means(level), mean, 1e-9));
    EXPECT_TRUE(Near(stack->Covariance(level, reached.points, reached.points), covariance, 1e-9));
  }
}

// Fewer observations tell less, and the difference is what the variances say it is.
TEST_P(NeighbourStackTest, WithSomeNeighboursItIsLessCertainAndKnowsIt) {
  Dataset data = SmallData({400, 300}, GetParam().dimension);
  for (LevelData& level : data.levels) {
    if (GetParam().given_noise) level.noise_variance = 0.01 * RandomUniform(level.y.size(), 1, 7).array() + 1e-4;
  }
  const auto stack = MakeStack(data, 2, 32, GetParam().kernel, GetParam().centres);
  const Matrix x = SmallQueries(40, GetParam().dimension);
  for (const int level : {0, 1}) {
    SCOPED_TRACE(level);
    Vector mean;
    Matrix covariance;
    Exact(data, level, x, mean, covariance);
    const Reached reached(*stack, x, level);
    double difference = 0;
    for (Index i = 0; i < x.rows(); ++i) {
      const Stencil& stencil = reached.points[i].at[level];
      if (level == 0 && GetParam().centres == 0) {  // a low-rank part learns from all
        EXPECT_GE(stencil.variance, (1 - 1e-9) * covariance(i, i));
      }
      difference += std::pow(stencil.mean - mean[i], 2) / stencil.variance;
    }
    EXPECT_LT(difference / static_cast<double>(x.rows()), 1);
  }
}

TEST_P(NeighbourStackTest, CovariancesArePositiveSemidefiniteAndAgreeWithVariances) {
  const Dataset data = StackData({300, 200}, GetParam().dimension, GetParam().given_noise);
  const auto stack = MakeStack(data, 2, 12, GetParam().kernel, GetParam().centres);
  const Reached reached(*stack, SmallQueries(60, GetParam().dimension), 1);
  for (const int level : {0, 1}) {
    const Matrix covariance = JointCovariance(*stack, level, reached.points, 2);
    EXPECT_TRUE(IsPositiveSemidefinite(covariance, 1e-9));
    EXPECT_TRUE(Near(stack->Covariance(level, reached.points, reached.points), covariance, 1e-12));
    for (Index i = 0; i < covariance.rows(); ++i) EXPECT_EQ(covariance(i, i), reached.points[i].at[level].variance);
    if (level == 1 || GetParam().centres == 0) {
      EXPECT_GT((covariance.array() == 0).count(), 0) << "points without a common neighbour";
    }
    EXPECT_GT((covariance.array() != 0).count(), covariance.rows()) << "points with common neighbours";
  }
}

TEST_P(NeighbourStackTest, GradientsAgreeWithDifferences) {
  const int d = GetParam().dimension;
  const Dataset data = StackData({200, 150}, d, GetParam().given_noise);
  const auto stack = MakeStack(data, 2, 10, GetParam().kernel, GetParam().centres);
  const Matrix near = SmallQueries(4, d, 3);
  for (const int level : {0, 1}) {
    const Reached others(*stack, near, level);
    for (int k = 0; k < 4; ++k) {
      const Matrix x = near.row(k).array() + 0.01;
      const auto value = [&](const Matrix& at) {
        const Reached point(*stack, at, level);
        return 0.7 * point.points[0].at[level].mean + 1.3 * point.points[0].at[level].variance +
               stack->Covariance(level, point.points, others.points).row(0).dot(Eigen::RowVector4d(1, -2, 3, 0.5));
      };
      const Reached point(*stack, x, level);
      const Vector gradient = stack->Gradient(
          level, point.points[0],
          {.mean = 0.7, .variance = 1.3, .others = others.points, .covariance = Eigen::Vector4d(1, -2, 3, 0.5)});
      for (int i = 0; i < d; ++i) {
        constexpr double kStep = 1e-6;  // too short to change neighbours
        Matrix up = x, down = x;
        up(0, i) += kStep;
        down(0, i) -= kStep;
        const double difference = (value(up) - value(down)) / (2 * kStep);
        EXPECT_NEAR(gradient[i], difference, 2e-5 * std::max(1.0, std::abs(difference))) << level << " " << k;
      }
    }
  }
}

TEST_P(NeighbourStackTest, FarFromAllDataThePriorIsLeft) {
  const Dataset data = StackData({100}, GetParam().dimension, GetParam().given_noise);
  const auto stack = MakeStack(data, 1, 16, GetParam().kernel, GetParam().centres);
  const Vector x = Vector::Constant(GetParam().dimension, 1e4);
  const Stencil stencil = stack->Reach(x.data(), 0)[0];
  EXPECT_NEAR(stencil.mean, 0.2, 1e-12);
  EXPECT_NEAR(stencil.variance, 1.3, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, NeighbourStackTest,
    ::testing::Values(StackCase{KernelFamily::kRbf, 1, false}, StackCase{KernelFamily::kRbf, 2, true},
                      StackCase{KernelFamily::kMatern32, 2, false}, StackCase{KernelFamily::kMatern52, 2, true},
                      StackCase{KernelFamily::kMatern52, 3, false}, StackCase{KernelFamily::kMatern52, 3, false, 40},
                      StackCase{KernelFamily::kRbf, 3, true, 60}),
    [](const auto& test) {
      return KernelName(test.param.kernel) + std::to_string(test.param.dimension) +
             (test.param.given_noise ? "GivenNoise" : "") + (test.param.centres > 0 ? "LowRank" : "");
    });

// Joint posterior of level 0 by the textbook.
void ExactFirst(const NeighbourStack& stack, const Matrix& x, KernelFamily kernel, Vector& mean, Matrix& covariance) {
  const NeighbourParameters p(stack.layout(0), stack.theta(0));
  const Vector lengthscales = p.inverse.cwiseInverse();
  const Matrix data = stack.data(0).x.transpose();
  Matrix k = p.amplitude * NaiveKernelMatrix(kernel, data, data, lengthscales);
  k.diagonal().array() += p.noise;
  const Matrix cross = p.amplitude * NaiveKernelMatrix(kernel, data, x, lengthscales);
  const Eigen::LLT<Matrix> factor(k);
  mean = cross.transpose() * factor.solve(Vector(stack.data(0).y.array() - p.mean));
  mean.array() += p.mean;
  covariance = p.amplitude * NaiveKernelMatrix(kernel, x, x, lengthscales) - cross.transpose() * factor.solve(cross);
}

TEST(NeighbourStackTest, WithAsManyCentresAsObservationsItIsExactWhateverTheNeighbours) {
  const Dataset data = StackData({120}, 4);
  const Matrix x = SmallQueries(12, 4);
  for (const KernelFamily kernel : kAllKernelFamilies) {
    SCOPED_TRACE(KernelName(kernel));
    const auto stack = MakeStack(data, 1, 5, kernel, 120);
    Vector mean;
    Matrix covariance;
    ExactFirst(*stack, x, kernel, mean, covariance);
    const Reached reached(*stack, x, 0);
    EXPECT_TRUE(Near(reached.Means(0), mean, 1e-7));
    // Covariances of what no observation tells are those of points with common neighbours.
    const Matrix found = stack->Covariance(0, reached.points, reached.points);
    EXPECT_TRUE(Near(found.diagonal(), covariance.diagonal(), 1e-7));
  }
}

TEST(NeighbourStackTest, WithAsManyCentresOrNeighboursAsObservationsLeavingOutIsExact) {
  Dataset data = StackData({60}, 3);
  for (const int copy : {30, 41}) data.levels[0].x.row(copy) = data.levels[0].x.row(17);  // left out together
  for (const int centres : {0, 60}) {
    const auto stack = MakeStack(data, 1, centres == 0 ? 1000 : 4, KernelFamily::kMatern32, centres);
    for (const int i : {0, 17, 30, 59}) {
      const NeighbourData scaled = ScaledLevel(data.levels[0], ScaleData(data).scaling);
      const Vector x = scaled.x.col(i);
      std::vector<int> kept;
      for (int k = 0; k < 60; ++k) {
        if (scaled.x.col(k) != x) kept.push_back(k);
      }
      EXPECT_EQ(kept.size(), i == 17 || i == 30 ? 57u : 59u);
      auto small = NeighbourStack(1000);
      small.AddData({Matrix(scaled.x(Eigen::all, kept)), Vector(scaled.y(kept)), {}}, 1);
      small.Complete(KernelFamily::kMatern32, FirstTheta(3));
      const Stencil expected = small.Reach(x.data(), 0)[0], found = stack->ReachWithout(0, i);
      EXPECT_NEAR(found.mean, expected.mean, 1e-7) << centres << " centres, " << i;
      EXPECT_NEAR(found.variance, expected.variance, 1e-7) << centres << " centres, " << i;
    }
  }
}

TEST(NeighbourStackTest, ALowRankPartHelpsWhereNeighboursAreFar) {
  const Dataset data = StackData({500}, 6);
  const Matrix x = SmallQueries(60, 6);
  Vector theta = FirstTheta(6);
  theta.head(6).setConstant(std::log(1.5));
  Vector mean, error(3);
  Matrix covariance;
  int k = 0;
  for (const int centres : {0, 60, 250}) {
    NeighbourStack stack(32, centres);
    stack.AddData(ScaledLevel(data.levels[0], ScaleData(data).scaling), 1);
    stack.Complete(KernelFamily::kRbf, theta);
    ExactFirst(stack, x, KernelFamily::kRbf, mean, covariance);
    error[k++] = (Reached(stack, x, 0).Means(0) - mean).norm();
  }
  EXPECT_LT(error[1], error[0]);
  EXPECT_LT(error[2], 0.3 * error[0]);
}

TEST(NeighbourStackTest, ALevelWithoutDataFollowsTheOneBelow) {
  Dataset data = StackData({50, 5}, 1);
  data.levels[1] = {Matrix(0, 1), Vector(0), {}};
  const auto stack = MakeStack(data, 2, 8, KernelFamily::kMatern32);
  const double x = 0.4;
  const std::vector<Stencil> stencils = stack->Reach(&x, 1);
  EXPECT_NEAR(stencils[1].mean, 1.2 * stencils[0].mean, 1e-12);
  EXPECT_GT(stencils[1].variance, 0.3);
}

TEST(NeighbourStackTest, CopiesOfAnObservationDoNoHarm) {
  Dataset data = StackData({50}, 2);
  LevelData& level = data.levels[0];
  for (int i = 0; i < 30; ++i) {
    level.x.row(i) = level.x.row(0);
    level.y[i] = level.y[0];
  }
  const auto stack = MakeStack(data, 1, 16, KernelFamily::kRbf);
  const Vector x = stack->data(0).x.col(0);
  const Stencil stencil = stack->Reach(x.data(), 0)[0];
  EXPECT_NEAR(stencil.mean, stack->data(0).y[0], 0.05);
  EXPECT_GT(stencil.variance, 0);
}

}  // namespace
}  // namespace fidelio
