#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/report/chart.h"
#include "client/cli/report/figures.h"
#include "client/cli/verdict.h"
#include "client/cpp/variables.h"

namespace fidelio::cli {
namespace {

using client::FidelityDiagnostics;
using Eigen::Index;

constexpr double kWidth95 = 1.959964;  // of a central 95 % interval, in standard deviations

// P(X ≤ k) of a binomial distribution.
double BinomialCdf(int64_t k, int64_t n, double p) {
  double sum = 0;
  for (int64_t i = 0; i <= k; ++i) {
    const auto x = static_cast<double>(i), m = static_cast<double>(n);
    sum += std::exp(std::lgamma(m + 1) - std::lgamma(x + 1) - std::lgamma(m - x + 1) + x * std::log(p) +
                    (m - x) * std::log1p(-p));
  }
  return sum;
}

std::string ScatterPanel(const ReportData& data, const FidelityDiagnostics& d) {
  const Eigen::VectorXd sd = d.variance.cwiseSqrt();
  const Eigen::VectorXd y = d.mean + d.residuals.cwiseProduct(sd);
  RangeOf both;
  both.Add(y);
  both.Add(d.mean);
  const Range range = both.Padded(0.06);
  Chart chart(
      {.width = 300,
       .height = 270,
       .x_label = data.model.outputs().empty() ? "observed" : "observed " + client::OutputLabel(data.model),
       .y_label = "predicted without it",
       .title = absl::StrCat(d.fidelity, ": ", d.count, " observations predicted without them, R² ", ShareText(d.r2)),
       .equal_ticks = true},
      range, range);
  chart.Segment(range.lower, range.lower, range.upper, range.upper, "diagonal");
  const std::string level = LevelClass(data, d.level);
  const Index stride = std::max<Index>(1, (y.size() + kMostPoints - 1) / kMostPoints);
  for (Index i = 0; i < y.size(); i += stride) {
    chart.Segment(y[i], d.mean[i] - kWidth95 * sd[i], y[i], d.mean[i] + kWidth95 * sd[i], "whisker " + level);
  }
  for (Index i = 0; i < y.size(); i += stride) {
    chart.Mark(y[i], d.mean[i], LevelShape(data, d.level), 3.1, "dot " + level,
               absl::StrCat("observed ", Short(y[i]), ", predicted ", Short(d.mean[i]), " ± ", Short(kWidth95 * sd[i]),
                            d.median.size() > 0 ? absl::StrCat(", median ", Short(d.median[i])) : "", " (",
                            absl::StrFormat("%+.1f", d.residuals[i]), " sd)"));
  }
  return chart.Svg();
}

// Promised and kept: a row for each of the intervals, with the range to be expected of so few observations.
std::string CoveragePanel(const ReportData& data, const FidelityDiagnostics& d) {
  Chart chart({.width = 300,
               .height = 118,
               .x_label = "share within the interval",
               .title = absl::StrFormat("%s: %.0f %% in the 50 %% interval, %.0f %% in 90 %%, %.0f %% in 95 %%",
                                        d.fidelity, 100 * d.coverage50, 100 * d.coverage90, 100 * d.coverage95),
               .y_ticks = false},
              {-0.16, 1.03}, {0.4, 3.6});
  const auto row = [&](double at, double promised, double kept) {
    const Counts expected = ExpectedWithin(d.count, promised);
    const auto n = static_cast<double>(d.count);
    chart.Box(static_cast<double>(expected.least) / n, at - 0.3, static_cast<double>(expected.most) / n, at + 0.3,
              "expected");
    chart.Segment(promised, at - 0.42, promised, at + 0.42, "promised");
    chart.Mark(kept, at, LevelShape(data, d.level), 4, "dot " + LevelClass(data, d.level),
               absl::StrFormat("%.0f %% of %d observations within the %.0f %% interval; %d to %d are to be expected",
                               100 * kept, d.count, 100 * promised, expected.least, expected.most));
    chart.Label(-0.16, at, 2, 3.5, absl::StrFormat("%.0f %%", 100 * promised), "tick");
  };
  row(3, 0.50, d.coverage50);
  row(2, 0.90, d.coverage90);
  row(1, 0.95, d.coverage95);
  return chart.Svg();
}

std::string ProbabilityPanel(const ReportData& data, const FidelityDiagnostics& d) {
  const Index n = d.cdf.size();
  const int bins = static_cast<int>(std::clamp<Index>(n / 5, 4, 10));
  Eigen::VectorXd counts = Eigen::VectorXd::Zero(bins);
  for (const double p : d.cdf) counts[std::clamp(static_cast<int>(p * bins), 0, bins - 1)] += 1;
  const Counts expected = ExpectedWithin(n, 1.0 / bins);
  RangeOf range;
  range.Add(0);
  range.Add(counts);
  range.Add(static_cast<double>(expected.most));
  Chart chart(
      {.width = 300,
       .height = 140,
       .x_label = "predicted probability of less than observed",
       .title = absl::StrCat(d.fidelity, ": histogram of ", n, " predicted probabilities, which should be flat")},
      {0, 1}, {0, range.Padded(0.08).upper});
  chart.Box(0, static_cast<double>(expected.least), 1, static_cast<double>(expected.most), "expected");
  for (int b = 0; b < bins; ++b) {
    chart.Box((b + 0.06) / bins, 0, (b + 0.94) / bins, counts[b], "column " + LevelClass(data, d.level),
              absl::StrFormat("%.0f of %d", counts[b], n));
  }
  chart.Horizontal(static_cast<double>(n) / bins, "promised");
  return chart.Svg();
}

}  // namespace

Counts ExpectedWithin(int64_t n, double p) {
  Counts counts{0, n};
  // Large numbers are nearly normal.
  if (n > 2000) {
    const double mean = static_cast<double>(n) * p, half = kWidth95 * std::sqrt(mean * (1 - p));
    return {static_cast<int64_t>(std::floor(mean - half)), std::min(n, static_cast<int64_t>(std::ceil(mean + half)))};
  }
  while (counts.least < n && BinomialCdf(counts.least, n, p) < 0.025) ++counts.least;
  while (counts.most > counts.least && BinomialCdf(counts.most - 1, n, p) >= 0.975) --counts.most;
  return counts;
}

std::string CalibrationVerdict(const ReportData& data) {
  if (!data.diagnostics.ok()) return "";
  if (!data.diagnostics->verdict.has_value())
    return absl::StrCat("<p class=\"verdict neutral\">", kNoVerdict, "</p>\n");
  const v1::Verdict& verdict = *data.diagnostics->verdict;
  const VerdictTone tone = ToneOf(verdict);
  std::string html = absl::StrCat("<div class=\"verdict ",
                                  tone == VerdictTone::kGood  ? "good"
                                  : tone == VerdictTone::kBad ? "bad"
                                                              : "neutral",
                                  "\"><b>", Escape(VerdictTitle(verdict)), "</b> ", Escape(verdict.text()));
  return absl::StrCat(html, "\n", WarningTexts({verdict.warnings().begin(), verdict.warnings().end()}), "</div>\n");
}

std::string CalibrationFigure(const ReportData& data) {
  if (!data.diagnostics.ok()) return Missing("No leave-one-out diagnosis: ", data.diagnostics.status());
  std::string panels;
  for (auto d = data.diagnostics->fidelities.rbegin(); d != data.diagnostics->fidelities.rend(); ++d) {
    if (d->count == 0) continue;
    if (d->mean.size() != d->count || d->cdf.size() != d->count) {
      return Missing("", absl::UnavailableError(
                             "This server does not return its leave-one-out predictions; upgrade it to see them."));
    }
    absl::StrAppend(&panels, "<div class=\"panel\"><h3>", Escape(d->fidelity), "</h3>", ScatterPanel(data, *d),
                    CoveragePanel(data, *d), d->count >= 8 ? ProbabilityPanel(data, *d) : "", "<p class=\"note\">R² ",
                    Escape(ShareText(d->r2)), " · RMSE ", Short(d->rmse),
                    d->median.size() > 0 ? absl::StrCat(" (of the median ", Short(d->median_rmse), ")") : "", " · ",
                    d->count, d->count == 1 ? " observation" : " observations",
                    d->inflation > 1.0005 ? absl::StrCat(" · variances widened ", Short(d->inflation), "×") : "",
                    "</p></div>\n");
  }
  if (panels.empty()) return Missing("", absl::UnavailableError("No observations to leave out."));
  return absl::StrCat(
      "<p>Each observation, predicted from the others of its fidelity and of those below. Points should lie on the "
      "diagonal, and their 95 % intervals should reach it; in the strip below, symbols should lie near the lines, "
      "within the grey range expected by chance; the columns should be about equally high.</p>\n<div class=\"panels "
      "larger\">\n",
      panels, "</div>\n");
}

}  // namespace fidelio::cli
