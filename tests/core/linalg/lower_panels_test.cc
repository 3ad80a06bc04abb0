#include "core/linalg/lower_panels.h"

#include <tuple>

#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

using Eigen::Index;

// Columns, rows below the triangle, and columns of the other factor: around the sizes of tiles and blocks.
class LowerPanelsTest : public testing::TestWithParam<std::tuple<Index, Index, Index>> {
 protected:
  const Index n_ = std::get<0>(GetParam()), rest_ = std::get<1>(GetParam()), m_ = std::get<2>(GetParam());
  const Matrix triangle_ = RandomNormal(n_, n_, 1), below_ = RandomNormal(rest_, n_, 2);
  const LowerPanels panels_{triangle_, below_};
  const Matrix dense_ = [&] {
    Matrix a(n_ + rest_, n_);
    a << Matrix(triangle_.triangularView<Eigen::Lower>()), below_;
    return a;
  }();
};

TEST_P(LowerPanelsTest, DenseIsTheTriangleAboveTheRest) {
  EXPECT_EQ(panels_.rows(), n_ + rest_);
  EXPECT_EQ(panels_.columns(), n_);
  EXPECT_EQ(panels_.Dense(), dense_);
}

TEST_P(LowerPanelsTest, TimesEqualsTheDenseProduct) {
  const Matrix b = RandomNormal(n_, m_, 3);
  Matrix out = Matrix::Constant(n_ + rest_, m_, 7);
  panels_.Times(b, out);
  EXPECT_TRUE(Near(out, dense_ * b, 1e-13));
}

TEST_P(LowerPanelsTest, TimesReadsAndWritesBlocks) {
  const Matrix b = RandomNormal(n_ + 2, m_ + 1, 3);
  Matrix frame = Matrix::Constant(n_ + rest_ + 2, m_ + 3, 7), expected = frame;
  panels_.Times(b.block(1, 1, n_, m_), frame.block(1, 2, n_ + rest_, m_));
  expected.block(1, 2, n_ + rest_, m_) = dense_ * b.block(1, 1, n_, m_);
  EXPECT_TRUE(Near(frame, expected, 1e-13));
}

INSTANTIATE_TEST_SUITE_P(Sizes, LowerPanelsTest,
                         testing::Combine(testing::Values(0, 1, 2, 5, 12, 13, 24, 31, 80, 300),
                                          testing::Values(0, 1, 3, 40), testing::Values(0, 1, 2, 4, 7, 64)));

TEST(EmptyLowerPanelsTest, MultipliesNothing) {
  const LowerPanels panels;
  Matrix out(0, 3);
  panels.Times(Matrix(0, 3), out);
  EXPECT_EQ(panels.Dense().size(), 0);
}

}  // namespace
}  // namespace fidelio
