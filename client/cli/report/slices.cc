#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "client/cli/report/chart.h"
#include "client/cli/report/figures.h"
#include "client/cli/report/run_labels.h"
#include "client/cpp/variables.h"

namespace fidelio::cli {
namespace {

using Eigen::Index;

// Observations this far from a slice are not drawn: root of the mean squared distance in the other inputs, in widths of
// the box.
constexpr double kFarthest = 0.25;

// 1 on the slice along input j, 0 at kFarthest.
double Nearness(const ReportData& data, const FidelityData& fidelity, Index row, int j) {
  double sum = 0;
  for (Index i = 0; i < data.centre.size(); ++i) {
    if (i == j) continue;
    const double distance = (fidelity.x(row, i) - data.centre[i]) / (data.upper[i] - data.lower[i]);
    sum += distance * distance;
  }
  const double rms = data.centre.size() > 1 ? std::sqrt(sum / static_cast<double>(data.centre.size() - 1)) : 0;
  return 1 - rms / kFarthest;
}

Range YRange(const ReportData& data) {
  RangeOf range;
  const bool one = data.panels.size() == 1 && data.centre.size() == 1;
  for (const FidelityData& fidelity : data.fidelities) {
    if (fidelity.slices.empty()) continue;
    for (const int j : data.panels) {
      const Curve& curve = fidelity.slices[static_cast<size_t>(j)];
      range.Add(curve.mean);
      // Wide bands of fidelities without data would flatten everything else.
      if (fidelity.count > 0) {
        range.Add(curve.lower95);
        range.Add(curve.upper95);
      }
    }
    if (one) range.Add(fidelity.y);
  }
  return range.Padded(0.05);
}

// Whether any median is so far from its mean that a line of its own is seen.
constexpr double kSeen = 0.02;  // of the vertical range
bool ShowsMedian(const Curve& curve, const Range& y) {
  return curve.median.size() > 0 && (curve.median - curve.mean).cwiseAbs().maxCoeff() > kSeen * y.width();
}

bool ShowsMedians(const ReportData& data, const Range& y) {
  for (const FidelityData& fidelity : data.fidelities) {
    for (const int j : data.panels) {
      if (!fidelity.slices.empty() && ShowsMedian(fidelity.slices[static_cast<size_t>(j)], y)) return true;
    }
  }
  return false;
}

std::string Panel(const ReportData& data, int j, const Range& y, Chart::Options options) {
  const double lower = data.lower[j], upper = data.upper[j], margin = 0.02 * (upper - lower);
  options.x_label = client::InputLabels(data.model)[static_cast<size_t>(j)];
  options.title = absl::StrCat("Predictions along ", options.x_label, " from ", Short(lower), " to ", Short(upper));
  Chart chart(options, {lower - margin, upper + margin}, y);
  const auto curve = [&](const FidelityData& fidelity) -> const Curve& {
    return fidelity.slices[static_cast<size_t>(j)];
  };
  for (const FidelityData& fidelity : data.fidelities) {
    if (fidelity.slices.empty()) continue;
    const std::string level = LevelClass(data, fidelity.level);
    chart.Band(curve(fidelity).x, curve(fidelity).lower95, curve(fidelity).upper95, "band b95 " + level);
    chart.Band(curve(fidelity).x, curve(fidelity).lower50, curve(fidelity).upper50, "band b50 " + level);
  }
  if (data.centre.size() > 1) chart.Vertical(data.centre[j], "centre");
  for (const FidelityData& fidelity : data.fidelities) {
    if (fidelity.slices.empty()) continue;
    const bool top = &fidelity == &data.fidelities.back();
    chart.Line(curve(fidelity).x, curve(fidelity).mean,
               absl::StrCat("curve ", top ? "" : "lower ", LevelClass(data, fidelity.level)));
    if (ShowsMedian(curve(fidelity), y)) {
      chart.Line(curve(fidelity).x, curve(fidelity).median,
                 absl::StrCat("curve median ", LevelClass(data, fidelity.level)));
    }
  }
  for (const FidelityData& fidelity : data.fidelities) {
    const std::string level = LevelClass(data, fidelity.level);
    if (data.centre.size() > 1) chart.Rug(fidelity.x.col(j), "rug " + level);
    for (Index i = 0; i < fidelity.y.size(); ++i) {
      const double nearness = Nearness(data, fidelity, i, j);
      if (nearness <= 0.05) continue;
      chart.Mark(fidelity.x(i, j), fidelity.y[i], LevelShape(data, fidelity.level), 3.2, "dot " + level,
                 PointTitle(data, fidelity, i), nearness);
    }
  }
  if (data.suggestions.ok()) {
    // Lines first: none may cross a number.
    const std::vector<client::Suggestion>& runs = data.suggestions->runs;
    std::vector<double> at;
    std::vector<std::string> numbers;
    for (const client::Suggestion& run : runs) {
      chart.Vertical(run.input[j], absl::StrCat("next ", LevelClass(data, run.level)));
      at.push_back(chart.X(run.input[j]));
      numbers.push_back(absl::StrCat(numbers.size() + 1));
    }
    const std::vector<LabelPlace> places = PlaceLabels(at, numbers, chart.X(upper + margin));
    for (size_t i = 0; i < runs.size(); ++i) {
      chart.Label(runs[i].input[j], y.upper, places[i].right, places[i].down, numbers[i],
                  absl::StrCat("number halo ", places[i].on_left ? "end " : "", LevelClass(data, runs[i].level)));
    }
  }
  return absl::StrCat("<div class=\"panel\">", chart.Svg(), "</div>\n");
}

}  // namespace

std::string SliceFigure(const ReportData& data) {
  const bool one = data.centre.size() == 1;
  const Range y = YRange(data);
  std::string panels;
  for (const int j : data.panels) {
    panels += one ? Panel(data, j, y, {.width = 440, .height = 280, .y_label = client::OutputLabel(data.model)})
                  : Panel(data, j, y,
                          {.width = 280,
                           .height = 200,
                           .y_label = data.model.outputs().empty() ? "" : client::OutputLabel(data.model)});
  }
  std::string legend =
      "<span><svg viewBox=\"0 0 22 14\" aria-hidden=\"true\"><rect class=\"band b95 l0\" width=\"22\" "
      "height=\"14\"/><rect class=\"band b50 l0\" y=\"4\" width=\"22\" height=\"6\"/><path class=\"curve "
      "l0\" d=\"M0 7H22\"/></svg>mean, 50&nbsp;% and 95&nbsp;% intervals</span>";
  if (ShowsMedians(data, y)) {
    absl::StrAppend(&legend,
                    " <span><svg viewBox=\"0 0 22 14\" aria-hidden=\"true\"><path class=\"curve median l0\" d=\"M0 "
                    "7H22\"/></svg>median</span>");
  }
  if (data.suggestions.ok() && !data.suggestions->runs.empty()) {
    absl::StrAppend(&legend,
                    " <span><svg viewBox=\"0 0 14 14\" aria-hidden=\"true\"><path class=\"next l0\" d=\"M7 "
                    "0V14\"/></svg>suggested runs, by number</span>");
  }
  std::string where;
  const std::vector<std::string> names = client::InputNames(data.model);
  for (Index j = 0; j < data.centre.size(); ++j) {
    absl::StrAppend(&where, j ? ", " : "", Escape(names[static_cast<size_t>(j)]), "&nbsp;=&nbsp;",
                    Short(data.centre[j]));
  }
  const std::string text =
      one ? "The prediction at every fidelity. Wide bands mean that the model is uncertain; away from the points "
            "the bands should widen."
          : absl::StrCat(
                "One panel per input, all with the same vertical scale; the other inputs are fixed at ",
                Escape(data.centre_text), " (", where,
                "; dotted line). Steep curves are inputs that matter. Points fade with their distance from the "
                "slice; ticks below mark the runs.");
  const std::string omitted = data.panels.size() < static_cast<size_t>(data.centre.size())
                                  ? absl::StrCat(" Shown are the ", data.panels.size(), " of ", data.centre.size(),
                                                 " inputs along which the highest fidelity varies most.")
                                  : "";
  std::string warnings;
  for (const FidelityData& fidelity : data.fidelities) {
    for (const std::string& warning : fidelity.warnings) {
      warnings += WarningTexts({absl::StrCat("Fidelity \"", fidelity.name, "\": ", warning)});
    }
  }
  return absl::StrCat("<p>", text, omitted, "</p>\n", warnings, Legend(data, legend), "<div class=\"",
                      one                      ? "wide"
                      : data.panels.size() < 4 ? "pair"
                                               : "panels",
                      "\">\n", panels, "</div>\n");
}

}  // namespace fidelio::cli
