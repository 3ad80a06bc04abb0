// Where the numbers of suggested runs stand in a panel: beside their lines, in rows from the top, none over another.
//
// A free function without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CLI_REPORT_RUN_LABELS_H_
#define FIDELIO_CLIENT_CLI_REPORT_RUN_LABELS_H_

#include <string>
#include <vector>

namespace fidelio::cli {

// In user units of the plot.
struct LabelPlace {
  double right = 0;      // of the line; below 0: on its left
  double down = 0;       // baseline, from the top of the plot
  bool on_left = false;  // then the text ends there
};

// Labels at the lines `at` (user units from the left edge), in a plot of this width.
std::vector<LabelPlace> PlaceLabels(const std::vector<double>& at, const std::vector<std::string>& texts, double width);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_REPORT_RUN_LABELS_H_
