#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "client/cli/report/chart.h"
#include "client/cli/report/figures.h"
#include "client/cpp/variables.h"

namespace fidelio::cli {
namespace {

using Eigen::Index;

double Correlation(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  const Eigen::VectorXd u = a.array() - a.mean(), v = b.array() - b.mean();
  const double size = u.norm() * v.norm();
  return size > 0 ? u.dot(v) / size : 0;
}

std::string Panel(const ReportData& data, const Link& link) {
  const FidelityData& low = data.fidelities[static_cast<size_t>(link.lower)];
  const FidelityData& high = data.fidelities[static_cast<size_t>(link.upper)];
  RangeOf x, y;
  x.Add(link.low);
  x.Add(link.data_low);
  y.Add(link.high);
  y.Add(link.data_y);
  const double r = Correlation(link.low, link.high);
  const bool named = !data.model.outputs().empty();
  const std::string output = client::OutputLabel(data.model);
  Chart chart({.width = 340,
               .height = 260,
               .x_label = named ? absl::StrCat("mean ", output, " of ", low.name) : "mean of " + low.name,
               .y_label = named ? absl::StrCat(output, " of ", high.name) : high.name,
               .title = absl::StrCat(high.name, " against ", low.name, ", correlation ", ShareText(r))},
              x.Padded(0.04), y.Padded(0.04));
  const std::string level = LevelClass(data, link.upper);
  if (data.centre.size() == 1) {
    chart.Line(link.low, link.high, "curve thin " + level);
  } else {
    for (Index i = 0; i < link.low.size(); ++i) {
      chart.Mark(link.low[i], link.high[i], Shape::kCircle, 1.8, "cloud " + level, "");
    }
  }
  for (Index i = 0; i < link.data_y.size(); ++i) {
    chart.Mark(link.data_low[i], link.data_y[i], LevelShape(data, link.upper), 3.6, "dot " + level,
               absl::StrCat(low.name, " predicted ", Short(link.data_low[i]), ", ", high.name, " observed ",
                            Short(link.data_y[i])));
  }
  return absl::StrCat("<div class=\"panel\"><h3>", Escape(low.name), " → ", Escape(high.name), "</h3>", chart.Svg(),
                      "<p class=\"note\">Correlation of the two predictions over the box: ", Escape(ShareText(r)),
                      "</p></div>\n");
}

}  // namespace

std::string LinkFigure(const ReportData& data) {
  if (data.links.empty()) return "";
  std::string panels;
  for (const Link& link : data.links) panels += Panel(data, link);
  return absl::StrCat(
      "<p>How the lower fidelity relates to the higher one. A clear curve means that cheap runs are informative; a "
      "shapeless cloud means that they are not. ",
      data.centre.size() == 1 ? "The line follows the input; " : "Small dots are predictions all over the box; ",
      "symbols are observations.</p>\n<div class=\"", data.links.size() > 2 ? "panels larger" : "pair", "\">\n", panels,
      "</div>\n");
}

}  // namespace fidelio::cli
