#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/report/chart.h"
#include "client/cli/report/figures.h"
#include "client/cli/text.h"

namespace fidelio::cli {

std::string TrainingFigure(const ReportData& data) {
  if (!data.fit.ok()) return Missing("The history of the fit is not here: ", data.fit.status());
  std::vector<v1::FitPoint> history;
  for (const v1::FitPoint& point : data.fit->history()) {
    if (point.iteration() > 0) history.push_back(point);  // before the first there is no objective
  }
  if (history.size() < 2) {
    return Missing("", absl::UnavailableError("The server kept no history of this fit."));
  }
  const auto n = static_cast<Eigen::Index>(history.size());
  Eigen::VectorXd iteration(n), value(n), best(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    iteration[i] = static_cast<double>(history[static_cast<size_t>(i)].iteration());
    value[i] = history[static_cast<size_t>(i)].elbo();
    best[i] = i > 0 ? std::max(best[i - 1], value[i]) : value[i];
  }
  // The first steps of a fit are far below all others: a fifth of the values may be.
  std::vector<double> sorted(value.begin(), value.end());
  std::sort(sorted.begin(), sorted.end());
  RangeOf range;
  for (size_t i = sorted.size() / 5; i < sorted.size(); ++i) range.Add(sorted[i]);
  const double served = data.revision.elbo();
  range.Add(served);
  const Range y = range.Padded(0.08);
  Chart chart(
      {.width = 440,
       .height = 240,
       .x_label = "iteration",
       .y_label = "objective",
       .title = absl::StrCat("Objective against iteration, from ", Short(value[0]), " to ", Short(best[n - 1]))},
      {0, std::max(1.0, iteration[n - 1]) * 1.02}, y);
  std::string phase;
  for (Eigen::Index i = 0; i < n; ++i) {
    const std::string& now = history[static_cast<size_t>(i)].phase();
    if (i > 0 && now != phase) chart.Vertical(iteration[i], "centre");
    phase = now;
  }
  for (Eigen::Index i = 0; i < n; ++i) {
    chart.Mark(iteration[i], std::max(value[i], y.lower), value[i] < y.lower ? Shape::kTriangle : Shape::kCircle, 2,
               "cloud strong l0",
               absl::StrCat("iteration ", history[static_cast<size_t>(i)].iteration(), ": ", Short(value[i]), " after ",
                            DurationText(ToDuration(history[static_cast<size_t>(i)].elapsed()))));
  }
  chart.Line(iteration, best, "curve thin l0");
  chart.Horizontal(served, "centre");
  // Names of phases, over all else; those of short ones would write over each other.
  phase.clear();
  int phases = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    const std::string& now = history[static_cast<size_t>(i)].phase();
    if (now != phase) {
      const bool at_edge = iteration[i] > 0.85 * iteration[n - 1];
      chart.Label(iteration[i], y.lower, at_edge ? -3 : 3, -4 - 12 * (phases++ % 3), now,
                  at_edge ? "tick halo end" : "tick halo");
    }
    phase = now;
  }
  return absl::StrCat(
      "<p>The log posterior, which the fit maximises and then samples. Dots are iterations of all starts and chains "
      "(triangles: below the visible range); the line is the best value so far. It should rise and then level off: if "
      "it still rises at its end, the fit needs more iterations. The dotted line is the objective of this revision, ",
      Short(served),
      ". It can lie below the best: the fit compares starts of different structure by their evidence, not by this "
      "number.</p>\n<div class=\"wide\"><div class=\"panel\">",
      chart.Svg(), "</div></div>\n");
}

}  // namespace fidelio::cli
