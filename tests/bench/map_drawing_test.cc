#include "tests/bench/map_drawing.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/random_matrix.h"

namespace fidelio::bench {
namespace {

TEST(MapDrawingTest, OneRowPerCellGivesTheDrawingOfAllRows) {
  // Of constant values, so that means over a cell do not matter.
  const Matrix x = RandomUniform(200'000, 2, 1) * Eigen::Vector2d(68.9, 57.3).asDiagonal();
  const std::vector<int> rows = OneRowPerCell(x);
  EXPECT_LT(rows.size(), 0.6 * static_cast<double>(x.rows()));
  const auto draw = [](const Matrix& points) {
    return DrawMaps(points, {{"truth", Vector::Constant(points.rows(), 0.3), 0, 1, {}}});
  };
  EXPECT_EQ(draw(x(rows, Eigen::all)), draw(x));
}

}  // namespace
}  // namespace fidelio::bench
