#include "core/base/equal_rows.h"

#include <vector>

#include "gtest/gtest.h"

namespace fidelio {
namespace {

TEST(EqualRowsTest, EqualRowsShareAGroup) {
  const Matrix x{{1, 2}, {1, 3}, {1, 2}, {0, 2}, {1, 3}, {1, 2}};
  const EqualRows rows = FindEqualRows(x);
  EXPECT_EQ(rows.group, (std::vector<int>{0, 1, 0, 2, 1, 0}));
  EXPECT_EQ(rows.count, 3);
  EXPECT_EQ(rows.copies, (std::vector<std::vector<int>>{{0, 2, 5}, {1, 4}}));
}

TEST(EqualRowsTest, RowsThatDifferInTheLastBitAreDistinct) {
  const EqualRows rows = FindEqualRows(Matrix{{1.0}, {1.0 + 1e-15}, {-0.0}, {0.0}});
  EXPECT_EQ(rows.group, (std::vector<int>{0, 1, 2, 2}));
  EXPECT_EQ(rows.copies.size(), 1u);
}

TEST(EqualRowsTest, WithoutRowsThereIsNothing) {
  const EqualRows rows = FindEqualRows(Matrix(0, 3));
  EXPECT_EQ(rows.count, 0);
  EXPECT_TRUE(rows.copies.empty());
}

TEST(EqualRowsTest, CopiesCountOnceInAMean) {
  const Vector values{{1, 3, 8}};
  EXPECT_EQ(GroupMean(values, {0, 0, 1}), 5);
  EXPECT_EQ(GroupMean(values, {}), 4);
  EXPECT_EQ(GroupMean(values, {0, 1, 2}), 4);
  // Groups may be missing, where rows were taken away.
  EXPECT_EQ(GroupMean(values, {3, 3, 7}), 5);
  EXPECT_EQ(GroupMean(values, {1, 5, 2}), 4);
  EXPECT_EQ(GroupCount({3, 3, 7}), 2);
}

}  // namespace
}  // namespace fidelio
