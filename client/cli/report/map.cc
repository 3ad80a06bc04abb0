#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "client/cli/report/chart.h"
#include "client/cli/report/figures.h"
#include "client/cpp/variables.h"

namespace fidelio::cli {
namespace {

using Eigen::Index;

// Viridis, in classes: light and dark, and told apart by those who see few colours, too.
constexpr const char* kColours[] = {"#440154", "#482475", "#414487", "#355f8d", "#2a788e", "#21918c",
                                    "#22a884", "#44bf70", "#7ad151", "#bddf26", "#fde725"};
constexpr int kClasses = 11;

// A logarithmic scale is for numbers above 0 whose largest is this many times the smallest; it spans at most kMostSpan.
constexpr double kLeastSpan = 5, kMostSpan = 1000;

// Colours by value, or by its logarithm.
struct ColourScale {
  Range range = {};
  bool logarithmic = false;
  bool open = false;  // smaller numbers have the colour of range.lower

  double Share(double value) const {
    if (!logarithmic) return (value - range.lower) / range.width();
    return std::log(std::max(value, range.lower) / range.lower) / std::log(range.upper / range.lower);
  }
  double At(double share) const {
    return logarithmic ? range.lower * std::pow(range.upper / range.lower, share) : range.lower + share * range.width();
  }
  int ClassOf(double value) const { return std::clamp(static_cast<int>(Share(value) * kClasses), 0, kClasses - 1); }
};

ColourScale ScaleOf(const Eigen::MatrixXd& values, bool may_be_logarithmic) {
  RangeOf of;
  of.Add(values.reshaped());
  ColourScale scale{.range = of.Padded(0)};
  if (!may_be_logarithmic || !(scale.range.upper > 0) || scale.range.lower < 0) return scale;
  if (scale.range.upper < kLeastSpan * scale.range.lower) return scale;
  scale.logarithmic = true;
  const double least = scale.range.upper / kMostSpan;
  scale.open = scale.range.lower < least;
  scale.range.lower = std::max(scale.range.lower, least);
  return scale;
}

// Runs of cells of one class are one rectangle.
void Fill(const Map& map, const Eigen::MatrixXd& values, const ColourScale& scale, Chart* chart) {
  const Index n1 = map.x1.size(), n2 = map.x2.size();
  const double half1 = (map.x1[1] - map.x1[0]) / 2, half2 = (map.x2[1] - map.x2[0]) / 2;
  chart->Raw("<g shape-rendering=\"crispEdges\">");
  for (Index j = 0; j < n2; ++j) {
    for (Index i = 0; i < n1;) {
      const int colour = scale.ClassOf(values(i, j));
      Index end = i + 1;
      while (end < n1 && scale.ClassOf(values(end, j)) == colour) ++end;
      const double left = chart->X(map.x1[i] - half1), right = chart->X(map.x1[end - 1] + half1);
      const double top = chart->Y(map.x2[j] + half2), bottom = chart->Y(map.x2[j] - half2);
      // A little larger, so that no background shines through between neighbours.
      chart->Raw(absl::StrCat("<rect x=\"", Coordinate(left), "\" y=\"", Coordinate(top), "\" width=\"",
                              Coordinate(right - left + 0.3), "\" height=\"", Coordinate(bottom - top + 0.3),
                              "\" fill=\"", kColours[colour], "\"/>"));
      i = end;
    }
  }
  chart->Raw("</g>");
}

std::string ColourBar(const ColourScale& scale) {
  std::string svg = "<svg class=\"bar\" viewBox=\"0 0 280 26\" role=\"img\" aria-label=\"colours\">";
  constexpr double kLeft = 10, kWidth = 260.0 / kClasses;
  for (int c = 0; c < kClasses; ++c) {
    absl::StrAppend(&svg, "<rect x=\"", Coordinate(kLeft + c * kWidth), "\" width=\"", Coordinate(kWidth + 0.3),
                    "\" height=\"10\" fill=\"", kColours[c], "\"/>");
  }
  for (const double share : {0.0, 0.5, 1.0}) {
    absl::StrAppend(&svg, "<text class=\"tick ",
                    share == 0   ? ""
                    : share == 1 ? "end"
                                 : "mid",
                    "\" x=\"", Coordinate(kLeft + share * 260), "\" y=\"22\">", share == 0 && scale.open ? "≤ " : "",
                    Short(scale.At(share)), "</text>");
  }
  return svg + "</svg>";
}

std::string Panel(const ReportData& data, const Eigen::MatrixXd& values, const std::string& name, bool is_sd) {
  const Map& map = *data.map;
  const ColourScale scale = ScaleOf(values, is_sd);
  const Range& range = scale.range;
  const std::vector<std::string> labels = client::InputLabels(data.model);
  const double margin1 = (map.x1[1] - map.x1[0]) / 2, margin2 = (map.x2[1] - map.x2[0]) / 2;
  Chart chart({.width = 300,
               .height = 280,
               .x_label = labels[0],
               .y_label = labels[1],
               .title = absl::StrCat(name, " over both inputs, from ", Short(range.lower), " to ", Short(range.upper))},
              {data.lower[0] - margin1, data.upper[0] + margin1}, {data.lower[1] - margin2, data.upper[1] + margin2});
  Fill(map, values, scale, &chart);
  for (const FidelityData& fidelity : data.fidelities) {
    const bool top = &fidelity == &data.fidelities.back();
    for (Index i = 0; i < fidelity.y.size(); ++i) {
      chart.Mark(fidelity.x(i, 0), fidelity.x(i, 1), LevelShape(data, fidelity.level), top ? 3.4 : 2,
                 top ? "onmap" : "onmap small", PointTitle(data, fidelity, i));
    }
  }
  if (is_sd && data.suggestions.ok()) {
    int number = 0;
    for (const client::Suggestion& run : data.suggestions->runs) {
      chart.Mark(run.input[0], run.input[1], Shape::kCircle, 6.5, "nextonmap",
                 absl::StrCat("suggested run ", number + 1, ": ", run.fidelity));
      chart.Label(run.input[0], run.input[1], 0, 3.4, absl::StrCat(++number), "numberonmap mid");
    }
  }
  return absl::StrCat("<div class=\"panel\"><h3>", Escape(name),
                      scale.logarithmic ? " <small>(logarithmic colours)</small>" : "", "</h3>", chart.Svg(),
                      ColourBar(scale), "</div>\n");
}

}  // namespace

std::string MapFigure(const ReportData& data) {
  if (!data.map.has_value()) return "";
  const std::string top = absl::StrCat(data.fidelities.back().name,
                                       data.model.outputs().empty() ? "" : ": " + client::OutputLabel(data.model));
  return absl::StrCat(
      "<p>The highest fidelity over both inputs: the prediction and its standard deviation. Large "
      "symbols are its runs, small ones those of lower fidelities; numbers are suggested runs, which should "
      "lie where the map of the standard deviation is bright.</p>\n",
      WarningTexts(data.map->warnings), "<div class=\"pair\">\n",
      Panel(data, data.map->mean, absl::StrCat("Mean of ", top), false),
      Panel(data, data.map->sd, absl::StrCat("Standard deviation of ", top), true),
      data.map->median.size() > 0 ? Panel(data, data.map->median, absl::StrCat("Median of ", top), false) : "",
      "</div>\n");
}

}  // namespace fidelio::cli
