// ReportData: what a report of a model shows, as it was asked of the server.
//
// A part that the server could not answer (a model that can't be diagnosed, a design that takes too long) has the error
// instead, and the page says so in its place.
#ifndef FIDELIO_CLIENT_CLI_REPORT_REPORT_DATA_H_
#define FIDELIO_CLIENT_CLI_REPORT_REPORT_DATA_H_

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cpp/client.h"

namespace fidelio::cli {

struct ReportOptions {
  std::string revision = {};  // number; default: the current one
  std::string at = "centre";  // what slices go through: centre, min, max, or d numbers with commas
  int runs = 5;               // to suggest; 0: none
  uint64_t seed = 0;          // of the suggestions
};

// Most inputs that have a panel of their own, and most observations of a fidelity that are drawn.
inline constexpr int kMostPanels = 12;
inline constexpr int kMostPoints = 600;

// The mean, the central 50 and 95 % intervals and the median along a line, n numbers each; older servers give no median.
struct Curve {
  Eigen::VectorXd x = {}, mean = {}, lower95 = {}, lower50 = {}, upper50 = {}, upper95 = {}, median = {};
};

struct FidelityData {
  int level = 0;
  std::string name = {};
  double cost = 1;
  int64_t count = 0;       // observations that the revision knows
  Eigen::MatrixXd x = {};  // of those that are drawn
  Eigen::VectorXd y = {};
  std::vector<Curve> slices = {};          // one per panel; empty when the model does not predict this fidelity
  std::vector<std::string> warnings = {};  // about the predictions of the slices
};

// Means of two neighbouring fidelities at the same inputs.
struct Link {
  int lower = 0, upper = 1;             // levels
  Eigen::VectorXd low = {}, high = {};  // in the box; along the only input when there is one
  Eigen::VectorXd data_low = {},
                  data_y = {};  // mean of the lower at inputs that were observed at the upper, and what was seen
};

// Mean and standard deviation of the highest fidelity on a grid, [i, j] at (x1_i, x2_j).
struct Map {
  Eigen::VectorXd x1 = {}, x2 = {};
  Eigen::MatrixXd mean = {}, sd = {};
  Eigen::MatrixXd median = {};             // empty unless the server warns of the means
  std::vector<std::string> warnings = {};  // about these predictions
};

struct ReportData {
  std::string server;     // version
  std::string generated;  // when, in UTC
  v1::Model model;
  v1::Revision revision;
  absl::StatusOr<v1::Fit> fit = absl::UnknownError("");
  Eigen::VectorXd lower, upper;  // the box, or the range of the observed inputs
  std::vector<FidelityData> fidelities;
  Eigen::VectorXd centre;   // that the slices go through
  std::string centre_text;  // what it is
  std::vector<int> panels;  // inputs (from 0) that have one
  std::vector<Link> links;
  std::optional<Map> map;  // with two inputs
  absl::StatusOr<client::Diagnostics> diagnostics = absl::UnknownError("");
  absl::StatusOr<client::Suggestions> suggestions = absl::UnknownError("");  // without a message: not asked for
};

// Asks for all of it. Errors of `options` begin with the flag: "--at: …".
absl::StatusOr<ReportData> CollectReport(client::Client& client, const std::string& model,
                                         const ReportOptions& options);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_REPORT_REPORT_DATA_H_
