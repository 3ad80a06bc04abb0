#include "tests/bench/line_chart.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

namespace fidelio::bench {
namespace {

constexpr double kChartWidth = 420, kChartHeight = 340;  // of one chart
constexpr double kLeftOfChart = 62, kRight = 12, kAboveChart = 34, kBottom = 46;

// Distinguishable in light and in dark, and by people who do not see red and green apart.
constexpr const char* kLineColours[] = {"#888888", "#0072b2", "#e69f00", "#009e73",
                                        "#cc79a7", "#d55e00", "#56b4e9", "#b0a000"};

struct Range {
  double low = INFINITY, high = -INFINITY;
  void Add(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  double Part(double v) const { return high > low ? (v - low) / (high - low) : 0.5; }
};

std::string Text(double x, double y, const std::string& anchor, const std::string& text, const std::string& more = "") {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>%s</text>\n", x, y, anchor, more, text);
}

std::string Line(double x1, double y1, double x2, double y2, const std::string& style) {
  return absl::StrFormat("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1, y1, x2, y2,
                         style);
}

// A step of 1, 2 or 5 times a power of ten, about a fifth of the range.
double StepOf(const Range& range) {
  const double raw = std::max(range.high - range.low, 1e-300) / 5;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (raw <= factor * power) return factor * power;
  }
  return 10 * power;
}

struct Box {
  double left, top, right, bottom;
};

// How much of some curves, given as points of the drawing, lies in a box.
int Covered(const std::vector<std::vector<std::pair<double, double>>>& curves, const Box& box) {
  constexpr int kSteps = 20;  // per piece
  int covered = 0;
  for (const auto& points : curves) {
    for (size_t i = 1; i < points.size(); ++i) {
      for (int step = 0; step <= kSteps; ++step) {
        const double part = static_cast<double>(step) / kSteps;
        const double px = points[i - 1].first + part * (points[i].first - points[i - 1].first);
        const double py = points[i - 1].second + part * (points[i].second - points[i - 1].second);
        covered += px >= box.left && px <= box.right && py >= box.top && py <= box.bottom ? 1 : 0;
      }
    }
  }
  return covered;
}

std::string Draw(const LineChart& chart, double at) {
  Range x, y;  // y: of the logarithms
  for (const Curve& curve : chart.curves) {
    for (const double v : curve.x) x.Add(v);
    for (const double v : curve.y) y.Add(std::log10(v));
  }
  const double margin = 0.03 * std::max(y.high - y.low, 0.0);
  y.low -= margin;
  y.high += margin;
  const double left = at + kLeftOfChart, right = at + kChartWidth - kRight, top = kAboveChart,
               bottom = kChartHeight - kBottom;
  const auto px = [&](double v) { return left + x.Part(v) * (right - left); };
  const auto py = [&](double log_v) { return bottom - y.Part(log_v) * (bottom - top); };

  std::string svg = Text((left + right) / 2, 20, "middle", chart.title, " class=\"title\"");
  for (double tick = std::ceil(x.low / StepOf(x)) * StepOf(x); tick <= x.high + 1e-9; tick += StepOf(x)) {
    svg += Line(px(tick), top, px(tick), bottom, "grid") +
           Text(px(tick), bottom + 16, "middle", absl::StrFormat("%g", tick));
  }
  for (double decade = std::floor(y.low); decade <= y.high; ++decade) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double tick = decade + std::log10(digit);
      if (tick < y.low - 1e-9 || tick > y.high + 1e-9) continue;
      svg += Line(left, py(tick), right, py(tick), "grid") +
             Text(left - 6, py(tick) + 4, "end", absl::StrFormat("%.3g", std::pow(10, tick)));
    }
  }
  svg += Text((left + right) / 2, kChartHeight - 10, "middle", chart.x_label);
  const double middle = (top + bottom) / 2;
  svg += Text(at + 14, middle, "middle", chart.y_label,
              absl::StrFormat(" transform=\"rotate(-90 %.1f %.1f)\"", at + 14, middle));
  if (std::isfinite(chart.goal)) {
    const double level = py(std::log10(chart.goal));
    svg += Line(left, level, right, level, "goal") +
           Text(left + 0.25 * (right - left), level + 12, "start", chart.goal_label);
  }
  std::vector<std::vector<std::pair<double, double>>> drawn;
  for (size_t c = 0; c < chart.curves.size(); ++c) {
    const Curve& curve = chart.curves[c];
    const char* colour = kLineColours[c % std::size(kLineColours)];
    std::string points, dots;
    drawn.emplace_back();
    for (size_t i = 0; i < curve.x.size(); ++i) {
      drawn.back().emplace_back(px(curve.x[i]), py(std::log10(curve.y[i])));
      const auto& [cx, cy] = drawn.back().back();
      absl::StrAppendFormat(&points, "%.1f,%.1f ", cx, cy);
      absl::StrAppendFormat(&dots, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>\n", cx, cy, colour);
    }
    absl::StrAppendFormat(&svg, "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n%s", points,
                          colour, dots);
  }
  // The legend goes where it covers the least.
  const double high = 16 * static_cast<double>(chart.curves.size()) + 6, wide = 100;
  Box legend{};
  int least = -1;
  for (const Box& box : {Box{right - wide, top, right, top + high}, Box{left, bottom - high, left + wide, bottom},
                         Box{right - wide, bottom - high, right, bottom}, Box{left, top, left + wide, top + high}}) {
    const int covered = Covered(drawn, box);
    if (least >= 0 && covered >= least) continue;
    least = covered;
    legend = box;
  }
  for (size_t c = 0; c < chart.curves.size(); ++c) {
    const double row = legend.top + 15 + 16 * static_cast<double>(c);
    absl::StrAppendFormat(&svg, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"3\" fill=\"%s\"/>\n",
                          legend.left + 8, row - 5, kLineColours[c % std::size(kLineColours)]);
    svg += Text(legend.left + 28, row, "start", chart.curves[c].name);
  }
  return svg;
}

}  // namespace

std::string DrawCharts(const std::vector<LineChart>& charts) {
  const double width = kChartWidth * static_cast<double>(std::max<size_t>(charts.size(), 1));
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" font-size=\"11\">\n"
      "<style>svg{background:#fff;color:#222}text{fill:currentColor}.title{font-size:14px;font-weight:bold}"
      ".grid{stroke:currentColor;stroke-opacity:.15}.goal{stroke:currentColor;stroke-opacity:.6;stroke-dasharray:4 3}"
      "@media(prefers-color-scheme:dark){svg{background:#181818;color:#ddd}}</style>\n",
      width, kChartHeight);
  for (size_t i = 0; i < charts.size(); ++i) svg += Draw(charts[i], kChartWidth * static_cast<double>(i));
  return svg + "</svg>\n";
}

}  // namespace fidelio::bench
