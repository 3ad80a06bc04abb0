#include "core/design/dpp_design.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "core/base/sobol.h"
#include "gtest/gtest.h"
#include "tests/support/gaussian_emulator.h"
#include "tests/support/near.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

GaussianEmulator Emulator2d() {
  GaussianEmulator emulator;
  emulator.dimension = 2;
  emulator.noise = 0.01;
  return emulator;
}

Matrix Candidates(int n) { return ScrambledSobol(n, Vector::Zero(2), Vector::Ones(2), 1).value(); }

TEST(DesignByDppTest, BothMethodsChooseDistinctCandidates) {
  const GaussianEmulator emulator = Emulator2d();
  const Matrix candidates = Candidates(300);
  for (const DppMethod method : {DppMethod::kExact, DppMethod::kMap}) {
    const Design design =
        DesignByDpp(emulator, candidates, {.k = 10, .method = method, .quality_mode = QualityMode::kMean, .seed = 3})
            .value();
    ASSERT_EQ(std::set<int>(design.indices.begin(), design.indices.end()).size(), 10u);
    EXPECT_EQ(design.inputs, Matrix(candidates(design.indices, Eigen::all)));
    const Vector q = QualityOfMean(Vector::Zero(300))(design.indices);
    EXPECT_EQ(design.quality, q);
    const Matrix c = emulator.JointMoments(design.inputs, {})->covariance;
    const Matrix kernel = q.asDiagonal() * c * q.asDiagonal();
    EXPECT_NEAR(design.log_determinant, std::log(kernel.determinant()), 1e-8);
    EXPECT_EQ(DesignByDpp(emulator, candidates, {.k = 10, .method = method}).value().quality, Vector::Ones(10));
  }
}

TEST(DesignByDppTest, TheSameSeedGivesTheSameDesign) {
  const GaussianEmulator emulator = Emulator2d();
  const auto design = [&](uint64_t seed) {
    return DesignByDpp(emulator, Candidates(200), {.k = 5, .seed = seed}).value().indices;
  };
  EXPECT_EQ(design(1), design(1));
  EXPECT_NE(design(1), design(2));
}

double AverageFirstInput(const GaussianEmulator& emulator, const DppDesignOptions& options) {
  double sum = 0;
  DppDesignOptions seeded = options;
  for (seeded.seed = 0; seeded.seed < 30; ++seeded.seed) {
    sum += DesignByDpp(emulator, Candidates(200), seeded).value().inputs.col(0).mean() / 30;
  }
  return sum;
}

// With the paper's formula, the mean −10 x would attract designs to large x.
TEST(DesignByDppTest, HighMeansAttractAlsoWhereTheyAreNegative) {
  GaussianEmulator emulator = Emulator2d();
  for (const double offset : {-100.0, 0.0, 100.0}) {
    emulator.mean = [offset](const Eigen::RowVectorXd& x) { return offset - 10 * x[0]; };
    EXPECT_LT(AverageFirstInput(emulator, {.k = 5, .quality_mode = QualityMode::kMean}), 0.4) << offset;
    EXPECT_NEAR(AverageFirstInput(emulator, {.k = 5}), 0.5, 0.05);
  }
}

TEST(DesignByDppTest, GivenQualityAttracts) {
  DppDesignOptions options{.k = 5, .quality_mode = QualityMode::kGiven};
  options.quality = Candidates(200).col(0).array().pow(2) + 1e-6;
  EXPECT_GT(AverageFirstInput(Emulator2d(), options), 0.6);
}

TEST(DesignByDppTest, ExcludedInputsAndCopiesAreNotChosen) {
  const GaussianEmulator emulator = Emulator2d();
  Matrix candidates = Candidates(40);
  candidates.bottomRows(20) = candidates.topRows(20);
  DppDesignOptions options{.k = 6};
  options.excluded = candidates.topRows(12).array() + 1e-12;
  for (const DppMethod method : {DppMethod::kExact, DppMethod::kMap}) {
    options.method = method;
    const Design design = DesignByDpp(emulator, candidates, options).value();
    for (const int i : design.indices) {
      EXPECT_GE(i, 12);
      EXPECT_LT(i, 20);
    }
  }
  options.k = 9;
  EXPECT_TRUE(IsError(DesignByDpp(emulator, candidates, options).status(), absl::StatusCode::kInvalidArgument,
                      {"k: 9", "40 candidates", "24 are excluded", "8 are copies"}));
}

// The reduction by conditioning the joint Gaussian of the design and the candidates at the highest level.
VarianceReduction NaiveReduction(const GaussianEmulator& emulator, const Matrix& candidates, const Design& design,
                                 int level) {
  const auto n = candidates.rows(), k = design.inputs.rows();
  Matrix x(n + k, 2);
  x << candidates, design.inputs;
  std::vector<int> levels(n + k, 1);
  std::fill_n(levels.begin() + n, k, level);
  const Matrix c = emulator.JointMomentsAt(x, levels, {})->covariance;
  const Matrix observed = c.bottomRightCorner(k, k) + emulator.noise * Matrix::Identity(k, k);
  const Matrix after = c.topLeftCorner(n, n) - c.topRightCorner(n, k) * observed.inverse() * c.bottomLeftCorner(k, n);
  return {.before = c.topLeftCorner(n, n).trace() / n, .after = after.trace() / n};
}

TEST(DesignByDppTest, TheReductionOfVarianceIsThatOfConditioning) {
  const GaussianEmulator emulator = Emulator2d();
  const Matrix candidates = Candidates(150);
  double reductions[2];
  for (const int level : {0, 1}) {
    const Design design = DesignByDpp(emulator, candidates, {.level = level, .k = 8}).value();
    const VarianceReduction naive = NaiveReduction(emulator, candidates, design, level);
    EXPECT_NEAR(design.reduction.before, naive.before, 1e-12);
    EXPECT_NEAR(design.reduction.after, naive.after, 1e-10);
    EXPECT_NEAR(design.reduction.fraction(), 1 - naive.after / naive.before, 1e-10);
    reductions[level] = design.reduction.fraction();
  }
  EXPECT_LT(reductions[0], 0.9 * reductions[1]);
}

TEST(DesignByDppTest, NothingIsExpectedOfObservationsOfWhatIsKnown) {
  EXPECT_EQ((VarianceReduction{.before = 0, .after = 0}.fraction()), 0);
}

TEST(DesignByDppTest, SizesBeyondTheRankAreRefusedWithTheRank) {
  GaussianEmulator smooth = Emulator2d();
  smooth.lengthscale = 10;
  for (const DppMethod method : {DppMethod::kExact, DppMethod::kMap}) {
    EXPECT_TRUE(IsError(DesignByDpp(smooth, Candidates(200), {.k = 150, .method = method}).status(),
                        absl::StatusCode::kInvalidArgument, {"k: 150", "200 candidates", "rank"}));
  }
}

TEST(DesignByDppTest, WrongArgumentsAreNamed) {
  const GaussianEmulator emulator = Emulator2d();
  const auto message = [&](const Matrix& candidates, const DppDesignOptions& options) {
    return DesignByDpp(emulator, candidates, options).status();
  };
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_TRUE(IsError(message(Candidates(5), {.k = 0}), invalid, {"k: 0"}));
  EXPECT_TRUE(IsError(message(Matrix(0, 2), {}), invalid, {"candidates: 0 rows"}));
  EXPECT_TRUE(IsError(message(Matrix::Zero(10001, 2), {}), invalid, {"candidates: 10001 rows", "10000"}));
  DppDesignOptions options;
  options.excluded = Matrix::Zero(1, 3);
  EXPECT_TRUE(IsError(message(Candidates(5), options), invalid, {"excluded: 3 columns", "dimension 2"}));
  options.excluded = Matrix::Constant(1, 2, std::nan(""));
  EXPECT_TRUE(IsError(message(Candidates(5), options), invalid, {"excluded", "finite"}));
  EXPECT_TRUE(IsError(message(Candidates(5), {.same_distance = -1}), invalid, {"same_distance: -1"}));
  EXPECT_TRUE(IsError(message(Candidates(5), {.quality_mode = QualityMode::kGiven}), invalid, {"quality: 0 elements"}));
}

}  // namespace
}  // namespace fidelio
