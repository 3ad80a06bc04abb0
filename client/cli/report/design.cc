#include "absl/strings/str_cat.h"
#include "client/cli/report/chart.h"
#include "client/cli/report/figures.h"
#include "client/cpp/variables.h"

namespace fidelio::cli {

std::string DesignFigure(const ReportData& data) {
  if (data.suggestions.status().message().empty() && !data.suggestions.ok()) return "";  // nobody asked
  if (!data.suggestions.ok()) return Missing("No suggestions: ", data.suggestions.status());
  const client::Suggestions& next = *data.suggestions;
  if (next.runs.empty()) {
    return Missing("", absl::UnavailableError(next.shortfall_reason.empty() ? "No further run would improve the model."
                                                                            : "No run: " + next.shortfall_reason));
  }
  std::string head, body;
  for (const std::string& label : client::InputLabels(data.model)) {
    absl::StrAppend(&head, "<th>", Escape(label), "</th>");
  }
  int number = 0;
  for (const client::Suggestion& run : next.runs) {
    absl::StrAppend(&body, "<tr><td>", ++number,
                    "</td><td class=\"left\"><svg viewBox=\"0 0 14 14\" aria-hidden=\"true\">",
                    ShapeSvg(LevelShape(data, run.level), 7, 7, 4.4,
                             absl::StrCat("class=\"dot ", LevelClass(data, run.level), "\""), ""),
                    "</svg>", Escape(run.fidelity), "</td>");
    for (const double x : run.input) absl::StrAppend(&body, "<td>", Short(x), "</td>");
    absl::StrAppend(&body, "<td>", Short(run.cost), "</td></tr>\n");
  }
  const double fall = next.variance_before > 0 ? 100 * (1 - next.variance_after / next.variance_before) : 0;
  return absl::StrCat(
      "<p>The runs that reduce the uncertainty of the highest fidelity most for their cost, in this order. Their total "
      "cost is ",
      Short(next.total_cost), ". They should reduce the mean variance of ", Escape(data.fidelities.back().name),
      " from ", Short(next.variance_before), " to ", Short(next.variance_after), ", by ", Short(fall),
      "&nbsp;%.</p>\n<div class=\"scroll\"><table><thead><tr><th>#</th><th class=\"left\">fidelity</th>", head,
      "<th>cost</th></tr></thead><tbody>\n", body, "</tbody></table></div>\n");
}

}  // namespace fidelio::cli
