#include "client/cli/report/figures.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/cli/report/scale.h"
#include "client/cpp/variables.h"

namespace fidelio::cli {
namespace {

constexpr int kLevelColours = 6;

}  // namespace

std::string LevelClass(const ReportData& data, int level) {
  return absl::StrCat("l", (static_cast<int>(data.fidelities.size()) - 1 - level) % kLevelColours);
}

Shape LevelShape(const ReportData& data, int level) {
  return ShapeOf(static_cast<int>(data.fidelities.size()) - 1 - level);
}

std::string Legend(const ReportData& data, const std::string& extra) {
  std::string html = "<p class=\"legend\">";
  for (auto fidelity = data.fidelities.rbegin(); fidelity != data.fidelities.rend(); ++fidelity) {
    if (fidelity->slices.empty() && fidelity->y.size() == 0) continue;  // nothing of it is drawn
    absl::StrAppend(&html, "<span><svg viewBox=\"0 0 14 14\" aria-hidden=\"true\">",
                    ShapeSvg(LevelShape(data, fidelity->level), 7, 7, 4.4,
                             absl::StrCat("class=\"dot ", LevelClass(data, fidelity->level), "\""), ""),
                    "</svg>", Escape(fidelity->name), "</span> ");
  }
  return absl::StrCat(html, extra, "</p>\n");
}

std::string PointTitle(const ReportData& data, const FidelityData& fidelity, Eigen::Index row) {
  const std::vector<std::string> names = client::InputNames(data.model);
  std::string text = absl::StrCat(fidelity.name, ": ");
  for (Eigen::Index j = 0; j < fidelity.x.cols(); ++j) {
    absl::StrAppend(&text, names[static_cast<size_t>(j)], " = ", Short(fidelity.x(row, j)), ", ");
  }
  return absl::StrCat(text, client::OutputName(data.model), " = ", Short(fidelity.y[row]));
}

std::string WarningTexts(const std::vector<std::string>& warnings) {
  std::string html;
  for (const std::string& warning : warnings) {
    absl::StrAppend(&html, "<p class=\"warning\"><b>Warning</b> ", Escape(warning), "</p>\n");
  }
  return html;
}

std::string Missing(const std::string& what, const absl::Status& status) {
  return absl::StrCat("<p class=\"missing\">", Escape(what),
                      absl::StrReplaceAll(Escape(status.message()), {{"\n", "<br>"}}), "</p>\n");
}

}  // namespace fidelio::cli
