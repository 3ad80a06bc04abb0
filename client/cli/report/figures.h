// The figures of a report, each as HTML with inline SVG. Colours are those of the page's style sheet (page.cc).
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CLI_REPORT_FIGURES_H_
#define FIDELIO_CLIENT_CLI_REPORT_FIGURES_H_

#include <string>
#include <vector>

#include "client/cli/report/report_data.h"
#include "client/cli/report/svg.h"

namespace fidelio::cli {

// The class of a fidelity's colour, the highest being the first: "l0", "l1", …
std::string LevelClass(const ReportData& data, int level);
Shape LevelShape(const ReportData& data, int level);

// Names with their colours and shapes. `extra` follows them, as HTML.
std::string Legend(const ReportData& data, const std::string& extra);

// "high: thickness = 0.5, load = 2, deflection = 7" of a run.
std::string PointTitle(const ReportData& data, const FidelityData& fidelity, Eigen::Index row);

// The function itself (one input), or one panel per input through the centre (slices.cc).
std::string SliceFigure(const ReportData& data);
// Mean and standard deviation over two inputs (map.cc). Empty without a map.
std::string MapFigure(const ReportData& data);
// How neighbouring fidelities are related (links.cc). Empty without neighbours.
std::string LinkFigure(const ReportData& data);
// Leave-one-out: predicted against observed, coverage, probabilities (calibration.cc).
std::string CalibrationFigure(const ReportData& data);
// The server's verdict on the highest fidelity, with its warnings.
std::string CalibrationVerdict(const ReportData& data);
// The objective against iterations (training.cc).
std::string TrainingFigure(const ReportData& data);
// How well the hyperparameters were sampled, with the fit's warnings that the verdict does not have (sampling.cc). Empty
// where nothing was sampled.
std::string SamplingText(const ReportData& data);
// The next runs as a table (design.cc).
std::string DesignFigure(const ReportData& data);

// A paragraph for each warning.
std::string WarningTexts(const std::vector<std::string>& warnings);

// A part that could not be had, and why.
std::string Missing(const std::string& what, const absl::Status& status);

// The least and the most of n that are within an interval of probability p, in 95 % of all cases.
struct Counts {
  int64_t least = 0, most = 0;
};
Counts ExpectedWithin(int64_t n, double p);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_REPORT_FIGURES_H_
