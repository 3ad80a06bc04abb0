#include "client/cli/report/svg.h"

#include "gtest/gtest.h"

namespace fidelio::cli {
namespace {

TEST(SvgTest, NothingOfTheUsersTextIsMarkup) {
  EXPECT_EQ(Escape("<b a=\"x\" c='y'>&amp;"), "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;amp;");
  EXPECT_EQ(Escape("größer ± 1 \xF0\x9F\x98\x80"), "größer ± 1 \xF0\x9F\x98\x80");
}

TEST(SvgTest, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(Escape("a\x80\xFF\xC3"), "a???");
  EXPECT_EQ(Escape("\xC0\xAF"), "??");  // an overlong slash
  EXPECT_EQ(Escape(std::string("\x1b[31m\0x", 7)), " [31m x");
}

TEST(SvgTest, CoordinatesAreShort) {
  EXPECT_EQ(Coordinate(1.0 / 3), "0.33");
  EXPECT_EQ(Coordinate(2), "2");
  EXPECT_EQ(Coordinate(-0.001), "0");
  EXPECT_EQ(Coordinate(10.5), "10.5");
  EXPECT_EQ(Coordinate(0.0 / 0.0), "0");
}

TEST(SvgTest, ShapesMayHaveATitle) {
  EXPECT_EQ(ShapeSvg(Shape::kCircle, 1, 2, 3, "", ""), "<circle cx=\"1\" cy=\"2\" r=\"3\"/>");
  EXPECT_EQ(ShapeSvg(Shape::kSquare, 0, 0, 1, "class=\"a\"", "<title>t</title>"),
            "<rect x=\"-0.9\" y=\"-0.9\" width=\"1.8\" height=\"1.8\" class=\"a\"><title>t</title></rect>");
}

}  // namespace
}  // namespace fidelio::cli
