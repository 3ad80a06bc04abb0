// A few words of SVG and HTML.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CLI_REPORT_SVG_H_
#define FIDELIO_CLIENT_CLI_REPORT_SVG_H_

#include <string>

#include "absl/strings/string_view.h"

namespace fidelio::cli {

// Text of the user's as text or attribute of a page: nothing in it is markup. What is not UTF-8 becomes "?", and control
// characters become blanks.
std::string Escape(absl::string_view text);

// A coordinate: at most two decimals.
std::string Coordinate(double value);

// Shapes by which points of different fidelities differ, besides their colours.
enum class Shape { kCircle, kSquare, kDiamond, kTriangle };
Shape ShapeOf(int index);

// A point of that shape with the given "radius"; `inner` (may be empty) goes inside, as a <title>.
std::string ShapeSvg(Shape shape, double x, double y, double size, absl::string_view attributes,
                     absl::string_view inner);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_REPORT_SVG_H_
