#include "core/linalg/triangular.h"

#include <utility>

#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

using Eigen::Index;

Matrix LowerPart(const Matrix& a) { return a.triangularView<Eigen::Lower>(); }

// Sizes of the triangular side and of the other one, around the width of a column block.
class TriangularProductTest : public testing::TestWithParam<std::pair<Index, Index>> {
 protected:
  const Index n_ = GetParam().first, m_ = GetParam().second;
  const Matrix l_ = LowerPart(RandomNormal(n_, n_, 1));
};

TEST_P(TriangularProductTest, TimesLowerEqualsTheDenseProduct) {
  const Matrix a = RandomNormal(m_, n_, 2);
  Matrix out = Matrix::Constant(m_, n_, 7);
  TimesLower(a, l_, out);
  EXPECT_TRUE(Near(out, a * l_, 1e-13));
}

TEST_P(TriangularProductTest, TimesLowerTransposedEqualsTheDenseProduct) {
  const Matrix a = RandomNormal(m_, n_, 2);
  Matrix out = Matrix::Constant(m_, n_, 7);
  TimesLowerTransposed(a, l_, out);
  EXPECT_TRUE(Near(out, a * l_.transpose(), 1e-13));
}

TEST_P(TriangularProductTest, LowerTimesEqualsTheDenseProduct) {
  const Matrix a = RandomNormal(n_, m_, 2);
  Matrix out = Matrix::Constant(n_, m_, 7);
  LowerTimes(l_, a, out);
  EXPECT_TRUE(Near(out, l_ * a, 1e-13));
}

TEST_P(TriangularProductTest, AddToLowerEqualsTheDenseSum) {
  const Matrix a = RandomNormal(n_, m_, 2), b = RandomNormal(m_, n_, 3), start = RandomNormal(n_, n_, 4);
  Matrix out = start;
  AddToLower(a, b, out);
  EXPECT_TRUE(Near(LowerPart(out), LowerPart(start + a * b), 1e-13));
}

TEST_P(TriangularProductTest, SubtractGramEqualsTheDenseDifference) {
  const Matrix a = RandomNormal(n_, m_, 2), start = RandomNormal(n_, n_, 4);
  Matrix out = start;
  SubtractGram(a, out);
  EXPECT_TRUE(Near(LowerPart(out), LowerPart(start - a * a.transpose()), 1e-13));
}

TEST_P(TriangularProductTest, WritesIntoBlocks) {
  const Matrix a = RandomNormal(m_, n_, 2);
  Matrix frame = Matrix::Constant(m_ + 2, n_ + 3, 7);
  TimesLower(a, l_, frame.block(1, 2, m_, n_));
  EXPECT_TRUE(Near(frame.block(1, 2, m_, n_), a * l_, 1e-13));
  frame.block(1, 2, m_, n_).setConstant(7);
  EXPECT_TRUE((frame.array() == 7).all());
}

INSTANTIATE_TEST_SUITE_P(Shapes, TriangularProductTest,
                         testing::Values(std::pair<Index, Index>{0, 3}, std::pair<Index, Index>{1, 1},
                                         std::pair<Index, Index>{5, 0}, std::pair<Index, Index>{7, 3},
                                         std::pair<Index, Index>{24, 24}, std::pair<Index, Index>{25, 10},
                                         std::pair<Index, Index>{47, 60}, std::pair<Index, Index>{48, 1},
                                         std::pair<Index, Index>{49, 33}, std::pair<Index, Index>{130, 70}));

}  // namespace
}  // namespace fidelio
