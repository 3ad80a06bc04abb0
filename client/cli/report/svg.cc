#include "client/cli/report/svg.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace fidelio::cli {
namespace {

// Bytes of the UTF-8 character that begins at `at`; 0 when none does.
size_t CharacterLength(absl::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t length = byte(at) < 0x80                        ? 1
                        : byte(at) >= 0xC2 && byte(at) <= 0xDF ? 2
                        : (byte(at) & 0xF0) == 0xE0            ? 3
                        : byte(at) >= 0xF0 && byte(at) <= 0xF4 ? 4
                                                               : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::string Escape(absl::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t length = CharacterLength(text, i);
    const char c = text[i];
    if (length == 0) {
      out += "?";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f) {
      out += " ";
    } else {
      absl::StrAppend(&out, text.substr(i, length));
    }
    i += length == 0 ? 1 : length;
  }
  return out;
}

std::string Coordinate(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = absl::StrFormat("%.2f", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

Shape ShapeOf(int index) { return static_cast<Shape>(index % 4); }

std::string ShapeSvg(Shape shape, double x, double y, double size, absl::string_view attributes,
                     absl::string_view inner) {
  std::string start;
  const auto c = Coordinate;
  switch (shape) {
    case Shape::kCircle:
      start = absl::StrCat("<circle cx=\"", c(x), "\" cy=\"", c(y), "\" r=\"", c(size), "\"");
      break;
    case Shape::kSquare:
      start = absl::StrCat("<rect x=\"", c(x - 0.9 * size), "\" y=\"", c(y - 0.9 * size), "\" width=\"", c(1.8 * size),
                           "\" height=\"", c(1.8 * size), "\"");
      break;
    case Shape::kDiamond:
      start = absl::StrCat("<path d=\"M", c(x), " ", c(y - 1.3 * size), "L", c(x + 1.3 * size), " ", c(y), "L", c(x),
                           " ", c(y + 1.3 * size), "L", c(x - 1.3 * size), " ", c(y), "Z\"");
      break;
    case Shape::kTriangle:
      start = absl::StrCat("<path d=\"M", c(x), " ", c(y - 1.2 * size), "L", c(x + 1.15 * size), " ", c(y + 0.9 * size),
                           "L", c(x - 1.15 * size), " ", c(y + 0.9 * size), "Z\"");
      break;
  }
  const std::string blank = attributes.empty() ? "" : " ";
  if (inner.empty()) return absl::StrCat(start, blank, attributes, "/>");
  return absl::StrCat(start, blank, attributes, ">", inner,
                      shape == Shape::kCircle   ? "</circle>"
                      : shape == Shape::kSquare ? "</rect>"
                                                : "</path>");
}

}  // namespace fidelio::cli
