#include "core/emulator/skewness.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"

namespace fidelio {
namespace {

using Eigen::Index;

// "the predicted mean at 3 of 20 inputs lies …", with the furthest of them. Empty when there is none.
std::string PartedText(const Vector& mean, const Vector& median, const Vector& mean_cdf, const std::string& what) {
  Index count = 0, furthest = 0;
  for (Index i = 0; i < mean_cdf.size(); ++i) {
    if (MeanAndMedianPart(mean_cdf[i])) ++count;
    if (std::abs(mean_cdf[i] - 0.5) > std::abs(mean_cdf[furthest] - 0.5)) furthest = i;
  }
  if (count == 0) return "";
  return absl::StrFormat(
      "At %d of %d %s, the predicted mean lies outside the central 50 %% interval (furthest: mean "
      "%.4g, median %.4g). The distribution is skewed there: use the median.",
      count, mean_cdf.size(), what, mean[furthest], median[furthest]);
}

std::vector<std::string> OneOrNone(std::string text) {
  if (text.empty()) return {};
  return {std::move(text)};
}

}  // namespace

bool MeanAndMedianPart(double mean_cdf) { return mean_cdf < 0.25 || mean_cdf > 0.75; }

std::vector<std::string> PredictionWarnings(const Prediction& prediction) {
  return OneOrNone(PartedText(prediction.mean, prediction.median, prediction.mean_cdf,
                              prediction.mean_cdf.size() == 1 ? "input" : "inputs"));
}

std::vector<std::string> LeaveOneOutWarnings(const LeaveOneOut& left_out, const std::string& fidelity) {
  return OneOrNone(PartedText(
      left_out.mean, left_out.median, left_out.mean_cdf,
      absl::StrFormat("left-out observation%s of fidelity \"%s\"", left_out.y.size() == 1 ? "" : "s", fidelity)));
}

}  // namespace fidelio
