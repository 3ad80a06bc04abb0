#include "tests/bench/band_chart.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

namespace fidelio::bench {
namespace {

constexpr double kWidth = 230, kHeight = 170, kGap = 14, kLeft = 76, kTop = 34, kNote = 18;

struct Frame {
  double left, top, x_low, x_high, y_low, y_high;
  double Px(double x) const { return left + (x - x_low) / (x_high - x_low) * kWidth; }
  double Py(double y) const {
    const double part = std::clamp((y - y_low) / (y_high - y_low), -0.02, 1.02);
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

std::string Marks(const Frame& frame, const Vector& x, const Vector& y, const char* style, double radius) {
  std::string marks;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    absl::StrAppendFormat(&marks, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" class=\"%s\"/>\n", frame.Px(x[i]),
                          frame.Py(y[i]), radius, style);
  }
  return marks;
}

std::string Draw(const BandPanel& panel, const Frame& frame) {
  std::string svg = absl::StrFormat("<rect x=\"%.1f\" y=\"%.1f\" width=\"%g\" height=\"%g\" class=\"frame\"/>\n",
                                    frame.left, frame.top, kWidth, kHeight);
  absl::StrAppendFormat(&svg, "<polygon class=\"band\" points=\"%s%s\"/>\n", Points(frame, panel.x, panel.upper),
                        Points(frame, panel.x.reverse(), panel.lower.reverse()));
  absl::StrAppendFormat(&svg, "<polyline class=\"truth\" points=\"%s\"/>\n", Points(frame, panel.x, panel.truth));
  absl::StrAppendFormat(&svg, "<polyline class=\"mean\" points=\"%s\"/>\n", Points(frame, panel.x, panel.mean));
  svg += Marks(frame, panel.low_x, panel.low_y, "low", 1.8) + Marks(frame, panel.high_x, panel.high_y, "high", 3.2);
  absl::StrAppendFormat(&svg, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", frame.left + kWidth / 2,
                        frame.top + kHeight + 13, panel.note);
  return svg;
}

}  // namespace

std::string DrawBands(const BandChart& chart) {
  const double width = kLeft + static_cast<double>(chart.columns.size()) * (kWidth + kGap);
  const double height = kTop + static_cast<double>(chart.rows.size()) * (kHeight + kNote + kGap) + 22;
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" font-size=\"11\">\n"
      "<style>svg{background:#fff;color:#222}text{fill:currentColor}.title{font-size:14px;font-weight:bold}"
      ".frame{fill:none;stroke:currentColor;stroke-opacity:.4}.band{fill:#0072b2;fill-opacity:.25}"
      ".mean{fill:none;stroke:#0072b2;stroke-width:1.8}"
      ".truth{fill:none;stroke:currentColor;stroke-width:1.2;stroke-dasharray:4 3}"
      ".low{fill:#888}.high{fill:#d55e00}"
      "@media(prefers-color-scheme:dark){svg{background:#181818;color:#ddd}}</style>\n",
      width, height);
  for (size_t c = 0; c < chart.columns.size(); ++c) {
    const double left = kLeft + static_cast<double>(c) * (kWidth + kGap);
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
      frame.top = kTop + static_cast<double>(r) * (kHeight + kNote + kGap);
      svg += Draw(chart.panels[r][c], frame);
      if (c > 0) continue;
      absl::StrAppendFormat(&svg, "<text x=\"8\" y=\"%.1f\" class=\"title\">%s</text>\n", frame.top + kHeight / 2,
                            chart.rows[r]);
    }
  }
  absl::StrAppendFormat(
      &svg,
      "<text x=\"%g\" y=\"%.1f\">line: mean · band: 95 %% interval · dashed: the high fidelity · grey: low-, "
      "orange: high-fidelity observations</text>\n",
      kLeft, height - 8);
  return svg + "</svg>\n";
}

}  // namespace fidelio::bench
