#include "tests/bench/map_drawing.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace fidelio::bench {
namespace {

using Eigen::Index;

constexpr int kCells = 300;  // across a map
constexpr double kPanel = 300, kGap = 24, kAboveMaps = 30, kBar = 36;

// viridis at nine places: even steps look even, also without colours.
constexpr std::array<std::array<int, 3>, 9> kColours = {{{68, 1, 84},
                                                         {71, 44, 122},
                                                         {59, 81, 139},
                                                         {44, 113, 142},
                                                         {33, 144, 141},
                                                         {39, 173, 129},
                                                         {92, 200, 99},
                                                         {170, 220, 50},
                                                         {253, 231, 37}}};

std::array<int, 3> Colour(double part) {
  const double at = std::clamp(part, 0.0, 1.0) * (kColours.size() - 1);
  const auto low = std::min(static_cast<size_t>(at), kColours.size() - 2);
  std::array<int, 3> colour;
  for (int c = 0; c < 3; ++c) {
    colour[c] =
        static_cast<int>(std::lround(kColours[low][c] + (at - low) * (kColours[low + 1][c] - kColours[low][c])));
  }
  return colour;
}

// Which cell of the raster a point is in.
struct Grid {
  Eigen::RowVector2d low, high;
  double width = 1, height = 1;
  int rows = 1;

  explicit Grid(const Matrix& x) : low(x.colwise().minCoeff()), high(x.colwise().maxCoeff()) {
    width = std::max(high[0] - low[0], 1e-12);
    height = std::max(high[1] - low[1], 1e-12);
    rows = std::clamp(static_cast<int>(kCells * height / width), 1, 3 * kCells);
  }
  size_t Cell(double x, double y) const {
    const auto cell = [](double part, int cells) { return std::clamp(static_cast<int>(part * cells), 0, cells - 1); };
    return static_cast<size_t>(cell((high[1] - y) / height, rows)) * kCells + cell((x - low[0]) / width, kCells);
  }
};

void BigEndian(uint32_t v, std::string& out) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>((v >> shift) & 255));
}

std::string Chunk(const std::string& type, const std::string& data) {
  std::string out;
  BigEndian(static_cast<uint32_t>(data.size()), out);
  const std::string body = type + data;
  out += body;
  BigEndian(
      static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()))),
      out);
  return out;
}

}  // namespace

std::string EncodePng(const std::vector<unsigned char>& rgba, int rows, int columns) {
  std::string raw;
  for (int r = 0; r < rows; ++r) {
    raw.push_back(0);  // no filter
    raw.append(reinterpret_cast<const char*>(rgba.data()) + static_cast<size_t>(r) * columns * 4,
               static_cast<size_t>(columns) * 4);
  }
  uLongf size = compressBound(raw.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(raw.data()), raw.size(), 9);
  packed.resize(size);
  std::string header;
  BigEndian(static_cast<uint32_t>(columns), header);
  BigEndian(static_cast<uint32_t>(rows), header);
  header += std::string("\x08\x06\x00\x00\x00", 5);  // 8 bits, RGBA
  return std::string("\x89PNG\r\n\x1a\n", 8) + Chunk("IHDR", header) + Chunk("IDAT", packed) + Chunk("IEND", "");
}

std::vector<int> OneRowPerCell(const Matrix& x) {
  const Grid grid(x);
  std::vector<bool> seen(static_cast<size_t>(grid.rows) * kCells, false);
  std::vector<int> rows;
  // Those at the borders first, whatever their cells: without them, a drawing would have other cells, and some empty.
  for (const Index c : {0, 1}) {
    Index lowest, highest;
    x.col(c).minCoeff(&lowest);
    x.col(c).maxCoeff(&highest);
    for (const Index i : {lowest, highest}) {
      rows.push_back(static_cast<int>(i));
      seen[grid.Cell(x(i, 0), x(i, 1))] = true;
    }
  }
  for (Index i = 0; i < x.rows(); ++i) {
    const size_t at = grid.Cell(x(i, 0), x(i, 1));
    if (!seen[at]) rows.push_back(static_cast<int>(i));
    seen[at] = true;
  }
  return rows;
}

std::string DrawMaps(const Matrix& x, const std::vector<MapPanel>& panels) {
  const Grid grid(x);
  const Eigen::RowVector2d low = grid.low, high = grid.high;
  const double width = grid.width, height = grid.height;
  const int rows = grid.rows;
  const double panel_height = kPanel * rows / kCells;
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" "
      "font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      panels.size() * (kPanel + kGap) + kGap, kAboveMaps + panel_height + kBar);
  for (size_t k = 0; k < panels.size(); ++k) {
    const MapPanel& panel = panels[k];
    const double left = kGap + static_cast<double>(k) * (kPanel + kGap);
    std::vector<double> sum(static_cast<size_t>(rows) * kCells, 0), count(sum.size(), 0);
    for (Index i = 0; i < x.rows(); ++i) {
      const size_t at = grid.Cell(x(i, 0), x(i, 1));
      sum[at] += panel.values[i];
      ++count[at];
    }
    std::vector<unsigned char> pixels(sum.size() * 4, 0);
    for (size_t at = 0; at < sum.size(); ++at) {
      if (count[at] == 0) continue;
      const auto colour = Colour((sum[at] / count[at] - panel.low) / (panel.high - panel.low));
      for (int c = 0; c < 3; ++c) pixels[4 * at + c] = static_cast<unsigned char>(colour[c]);
      pixels[4 * at + 3] = 255;
    }
    absl::StrAppendFormat(&svg, "<text x=\"%.1f\" y=\"20\" text-anchor=\"middle\">%s</text>\n", left + kPanel / 2,
                          panel.title);
    absl::StrAppendFormat(&svg,
                          "<image x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                          "href=\"data:image/png;base64,%s\"/>\n",
                          left, kAboveMaps, kPanel, panel_height, absl::Base64Escape(EncodePng(pixels, rows, kCells)));
    for (Index i = 0; i < panel.marks.rows(); ++i) {
      absl::StrAppendFormat(&svg,
                            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"#d62728\" stroke=\"white\" "
                            "stroke-width=\"0.8\"/>\n",
                            left + kPanel * (panel.marks(i, 0) - low[0]) / width,
                            kAboveMaps + panel_height * (high[1] - panel.marks(i, 1)) / height);
    }
    const double bar = kAboveMaps + panel_height + 6;
    for (int i = 0; i < 60; ++i) {
      const auto colour = Colour((i + 0.5) / 60);
      absl::StrAppendFormat(&svg, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"8\" fill=\"rgb(%d,%d,%d)\"/>\n",
                            left + kPanel * i / 60, bar, kPanel / 60 + 0.2, colour[0], colour[1], colour[2]);
    }
    absl::StrAppendFormat(&svg, "<text x=\"%.1f\" y=\"%.1f\">%.3g</text>\n", left, bar + 22, panel.low);
    absl::StrAppendFormat(&svg, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>\n", left + kPanel,
                          bar + 22, panel.high);
  }
  return svg + "</svg>\n";
}

}  // namespace fidelio::bench
