#include "client/cli/report/chart.h"

#include "gtest/gtest.h"

namespace fidelio::cli {
namespace {

TEST(ChartTest, DataGoesFromEdgeToEdgeAndUpward) {
  const Chart chart({.width = 400, .height = 300}, {10, 20}, {-1, 1});
  EXPECT_EQ(chart.X(10), 0);
  EXPECT_EQ(chart.Y(1), 0);
  EXPECT_GT(chart.X(20), 300);
  EXPECT_GT(chart.Y(-1), 200);
  EXPECT_DOUBLE_EQ(chart.X(15), chart.X(20) / 2);
}

TEST(ChartTest, EverythingDrawnIsWellFormedAndEscaped) {
  Chart chart({.x_label = "x<1", .y_label = "y", .title = "\"a\" & b"}, {0, 1}, {0, 1});
  const Eigen::Vector2d x(0, 1), low(0, 0.1), high(0.5, 0.6);
  chart.Band(x, low, high, "band");
  chart.Line(x, low, "curve");
  chart.Mark(0.5, 0.5, Shape::kDiamond, 3, "dot", "<script>", 0.5);
  chart.Vertical(0.3, "v");
  chart.Horizontal(0.3, "h");
  chart.Box(0, 0, 0.1, 0.2, "b", "t");
  chart.Rug(x, "rug");
  chart.Label(0, 0, 1, 1, "a>b", "t");
  const std::string svg = chart.Svg();
  EXPECT_EQ(svg.find("<script>"), std::string::npos);
  EXPECT_NE(svg.find("&lt;script&gt;"), std::string::npos);
  EXPECT_NE(svg.find("aria-label=\"&quot;a&quot; &amp; b\""), std::string::npos);
  EXPECT_NE(svg.find("x&lt;1"), std::string::npos);
  EXPECT_NE(svg.find("a&gt;b"), std::string::npos);
  // Every element that is opened is closed.
  int depth = 0;
  for (size_t i = svg.find('<'); i != std::string::npos; i = svg.find('<', i + 1)) {
    const size_t end = svg.find('>', i);
    ASSERT_NE(end, std::string::npos);
    depth += svg[i + 1] == '/' ? -1 : svg[end - 1] == '/' ? 0 : 1;
    ASSERT_GE(depth, 0);
  }
  EXPECT_EQ(depth, 0);
}

TEST(ChartTest, NothingToDrawIsNotDrawn) {
  Chart chart({}, {0, 1}, {0, 1});
  const std::string before = chart.Svg();
  chart.Line({}, {}, "curve");
  chart.Band({}, {}, {}, "band");
  chart.Rug({}, "rug");
  EXPECT_EQ(chart.Svg(), before);
}

}  // namespace
}  // namespace fidelio::cli
