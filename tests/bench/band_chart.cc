#include "tests/bench/band_chart.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

namespace fidelio::bench {
namespace {

constexpr double kWidth = 230, kHeight = 150, kGapX = 34, kGapY = 16, kLeft = 108, kTop = 34, kBelow = 34, kLegend = 34;

struct Frame {
  double left, top, x_low, x_high, y_low, y_high;
  double Px(double x) const { return left + (x - x_low) / (x_high - x_low) * kWidth; }
  double Py(double y) const {
    // What lies far beyond the frame is cut by its clip path; numbers stay small.
    const double part = std::clamp((y - y_low) / (y_high - y_low), -10.0, 11.0);
    return top + (1 - part) * kHeight;
  }
};

std::string Points(const Frame& frame, const Vector& x, const Vector& y) {
  std::string points;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    absl::StrAppendFormat(&points, "%.1f,%.1f ", frame.Px(x[i]), frame.Py(y[i]));
  }
  return points;
}

std::string Circle(double x, double y, double radius, const char* style) {
  return absl::StrFormat("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" class=\"%s\"/>\n", x, y, radius, style);
}

constexpr double kLowRadius = 2, kHighRadius = 3.6;

std::string Marks(const Frame& frame, const Vector& x, const Vector& y, const char* style, double radius) {
  std::string marks;
  for (Eigen::Index i = 0; i < x.size(); ++i) marks += Circle(frame.Px(x[i]), frame.Py(y[i]), radius, style);
  return marks;
}

// 1, 2 or 5 times a power of ten, so that about four steps cover the range.
double TickStep(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / 4)));
  const double rest = range / 4 / power;
  return power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
}

std::string Axes(const Frame& frame) {
  std::string svg;
  const double bottom = frame.top + kHeight;
  for (int i = 0; i <= 2; ++i) {
    const double x = frame.x_low + 0.5 * i * (frame.x_high - frame.x_low);
    absl::StrAppendFormat(&svg, "<path class=\"tick\" d=\"M%.1f %.1fv4\"/>", frame.Px(x), bottom);
    absl::StrAppendFormat(&svg, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%g</text>\n", frame.Px(x),
                          bottom + 14, x);
  }
  const double step = TickStep(frame.y_high - frame.y_low);
  for (double k = std::ceil(frame.y_low / step); k * step <= frame.y_high; ++k) {
    absl::StrAppendFormat(&svg, "<path class=\"tick\" d=\"M%.1f %.1fh-4\"/>", frame.left, frame.Py(k * step));
    absl::StrAppendFormat(&svg, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", frame.left - 6,
                          frame.Py(k * step) + 3.5, k == 0 ? 0.0 : k * step);
  }
  return svg;
}

std::string Draw(const BandPanel& panel, const Frame& frame, int number) {
  const std::string rectangle =
      absl::StrFormat("x=\"%.1f\" y=\"%.1f\" width=\"%g\" height=\"%g\"", frame.left, frame.top, kWidth, kHeight);
  std::string svg = absl::StrFormat("<clipPath id=\"panel%d\"><rect %s/></clipPath>\n<g clip-path=\"url(#panel%d)\">\n",
                                    number, rectangle, number);
  absl::StrAppendFormat(&svg, "<polygon class=\"band\" points=\"%s%s\"/>\n", Points(frame, panel.x, panel.upper),
                        Points(frame, panel.x.reverse(), panel.lower.reverse()));
  absl::StrAppendFormat(&svg, "<polyline class=\"mean\" points=\"%s\"/>\n", Points(frame, panel.x, panel.mean));
  absl::StrAppendFormat(&svg, "<polyline class=\"truth\" points=\"%s\"/>\n", Points(frame, panel.x, panel.truth));
  svg += Marks(frame, panel.low_x, panel.low_y, "low", kLowRadius) +
         Marks(frame, panel.high_x, panel.high_y, "high", kHighRadius);
  absl::StrAppendFormat(&svg, "</g>\n<rect %s class=\"frame\"/>\n", rectangle);
  svg += Axes(frame);
  absl::StrAppendFormat(&svg, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" class=\"note\">%s</text>\n",
                        frame.left + kWidth / 2, frame.top + kHeight + 29, panel.note);
  return svg;
}

std::string Legend(double x, double y) {
  std::string svg;
  const auto text = [&](double at, const char* words) {
    absl::StrAppendFormat(&svg, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x + at, y + 4, words);
  };
  const auto line = [&](double at, const char* style) {
    absl::StrAppendFormat(&svg, "<polyline class=\"%s\" points=\"%.1f,%.1f %.1f,%.1f\"/>", style, x + at, y,
                          x + at + 26, y);
  };
  line(0, "mean");
  text(32, "mean");
  absl::StrAppendFormat(&svg, "<rect class=\"band\" x=\"%.1f\" y=\"%.1f\" width=\"26\" height=\"12\"/>", x + 90, y - 6);
  text(122, "95 % interval of observations");
  line(310, "truth");
  text(342, "true high fidelity");
  svg += Circle(x + 480, y, kHighRadius, "high");
  text(490, "high-fidelity observation");
  svg += Circle(x + 660, y, kLowRadius, "low");
  text(670, "low-fidelity observation");
  return svg;
}

}  // namespace

std::string DrawBands(const BandChart& chart) {
  const double width = kLeft + static_cast<double>(chart.columns.size()) * (kWidth + kGapX) - kGapX + 12;
  const double height = kTop + static_cast<double>(chart.rows.size()) * (kHeight + kBelow + kGapY) + kLegend;
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" font-size=\"11\">\n"
      "<style>svg{background:#fff;color:#222}text{fill:currentColor}.title{font-size:14px;font-weight:bold}"
      ".note{font-size:11.5px}.frame{fill:none;stroke:currentColor;stroke-opacity:.5}"
      ".tick{fill:none;stroke:currentColor;stroke-opacity:.5}.band{fill:#0072b2;fill-opacity:.25}"
      ".mean{fill:none;stroke:#0072b2;stroke-width:1.8}"
      ".truth{fill:none;stroke:currentColor;stroke-width:1.3;stroke-dasharray:5 3}"
      ".low{fill:#999}.high{fill:#d55e00;stroke:#fff;stroke-width:.8}"
      "@media(prefers-color-scheme:dark){svg{background:#181818;color:#ddd}}</style>\n",
      width, height);
  int number = 0;
  for (size_t c = 0; c < chart.columns.size(); ++c) {
    const double left = kLeft + static_cast<double>(c) * (kWidth + kGapX);
    absl::StrAppendFormat(&svg, "<text x=\"%.1f\" y=\"20\" text-anchor=\"middle\" class=\"title\">%s</text>\n",
                          left + kWidth / 2, chart.columns[c]);
    Frame frame{.left = left, .top = 0, .x_low = 0, .x_high = 1, .y_low = INFINITY, .y_high = -INFINITY};
    const BandPanel& first = chart.panels[0][c];
    for (const Vector* values : {&first.truth, &first.low_y, &first.high_y}) {
      if (values->size() == 0) continue;
      frame.y_low = std::min(frame.y_low, values->minCoeff());
      frame.y_high = std::max(frame.y_high, values->maxCoeff());
    }
    const double margin = 0.15 * (frame.y_high - frame.y_low);
    frame.y_low -= margin;
    frame.y_high += margin;
    frame.x_low = first.x.minCoeff();
    frame.x_high = first.x.maxCoeff();
    for (size_t r = 0; r < chart.rows.size(); ++r) {
      frame.top = kTop + static_cast<double>(r) * (kHeight + kBelow + kGapY);
      svg += Draw(chart.panels[r][c], frame, number++);
      if (c > 0) continue;
      absl::StrAppendFormat(&svg, "<text x=\"8\" y=\"%.1f\" class=\"title\">%s</text>\n", frame.top + kHeight / 2,
                            chart.rows[r]);
    }
  }
  return svg + Legend(kLeft, height - kLegend / 2) + "</svg>\n";
}

}  // namespace fidelio::bench
