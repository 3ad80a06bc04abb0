#include "core/emulator/fit_warnings.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace fidelio {
namespace {

// Rounded up with three decimals close to the limit: 1.1004 must not read as 1.1.
std::string RHatText(double r_hat) {
  if (r_hat >= 100) return "100 or more";  // no chain moved (kLargestRHat of core/optim/chain_statistics.h)
  return r_hat < 1.2 ? absl::StrFormat("%.3f", std::ceil(1000 * r_hat) / 1000) : absl::StrFormat("%.2f", r_hat);
}

}  // namespace

std::vector<std::string> FitWarnings(const FitReport& report) {
  std::vector<std::string> warnings;
  if (report.chains > 0 && report.r_hat > kMostRHat) {
    warnings.push_back(absl::StrCat(
        "R̂ is ", RHatText(report.r_hat), ", and should be at most ", kMostRHat,
        ": the chains that sampled the hyperparameters disagree, so the uncertainty of predictions may be wrong. "
        "Compare predictions with those of a fit from another seed; more observations help."));
  }
  if (report.chains > 0 && report.effective_size > 0 && report.effective_size < kLeastEffectiveSize) {
    warnings.push_back(absl::StrFormat(
        "The effective sample size is %.1f, and should be at least %.0f: predictions average few independent draws of "
        "the hyperparameters. Compare them with those of a fit from another seed; more observations help.",
        std::floor(10 * report.effective_size) / 10, kLeastEffectiveSize));
  }
  if (report.failed_curvature > 0) {
    warnings.push_back(absl::StrCat("The curvature of the posterior could not be measured in ", report.failed_curvature,
                                    report.failed_curvature == 1 ? " direction" : " directions",
                                    ", and the prior's was used instead: the weights of modes may be wrong. Compare "
                                    "with a fit from another seed."));
  }
  return warnings;
}

}  // namespace fidelio
