#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/report/figures.h"
#include "client/cli/report/svg.h"

namespace fidelio::cli {
namespace {

constexpr double kMostRHat = 1.1;

// Whether the verdict at the top of the page says it already.
bool InVerdict(const ReportData& data, const std::string& warning) {
  if (!data.diagnostics.ok() || !data.diagnostics->verdict.has_value()) return false;
  const auto& warnings = data.diagnostics->verdict->warnings();
  return std::find(warnings.begin(), warnings.end(), warning) != warnings.end();
}

std::string Sentence(const v1::SamplingReport& sampling) {
  std::string text = absl::StrFormat("<p>%d %s sampled the hyperparameters, and predictions average %d %s. ",
                                     sampling.chains(), sampling.chains() == 1 ? "chain" : "chains", sampling.draws(),
                                     sampling.draws() == 1 ? "draw" : "draws");
  if (sampling.has_r_hat()) {
    const bool good = sampling.r_hat() <= kMostRHat;
    absl::StrAppend(
        &text, absl::StrFormat("R̂ is <b>%.3f</b>: ", sampling.r_hat()),
        good ? "the chains agree, as a value near 1 shows. " : "the chains disagree, as a value above 1.1 shows. ");
  } else {
    absl::StrAppend(&text, "R̂ is not known: the chains are too short. ");
  }
  if (sampling.effective_size() > 0) {
    absl::StrAppend(&text, absl::StrFormat("The effective sample size is <b>%.0f</b> or more for each hyperparameter.",
                                           sampling.effective_size()));
  }
  return text + "</p>\n";
}

}  // namespace

std::string SamplingText(const ReportData& data) {
  if (!data.fit.ok()) return "";
  std::string html = data.fit->has_sampling() ? Sentence(data.fit->sampling()) : "";
  for (const std::string& warning : data.fit->warnings()) {
    if (InVerdict(data, warning)) continue;
    absl::StrAppend(&html, "<p class=\"warning\"><b>Warning</b> ", Escape(warning), "</p>\n");
  }
  return html;
}

}  // namespace fidelio::cli
