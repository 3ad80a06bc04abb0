#include "core/emulator/verdict.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/equal_rows.h"
#include "core/base/normal.h"
#include "core/base/status_macros.h"
#include "core/emulator/skewness.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr int kLeastValues = 5;             // of an input, to call them regular
constexpr double kRegularTolerance = 0.05;  // of a gap, relative to their mean
constexpr double kSameValue = 1e-9;         // of the range: two values are one
constexpr double kLeastShare = 1e-3;        // of the variance of predicted means, along an input that matters
constexpr Index kLines = 16, kSteps = 9;    // along which, and at how many points each, means are compared
constexpr int64_t kMostExact = 2000;        // larger numbers are nearly normal

std::string Plural(int64_t n, absl::string_view one, absl::string_view many) {
  return absl::StrCat(n, " ", n == 1 ? one : many);
}

// How many of the distinct inputs lie within the central interval of that probability; of copies, their share.
double Within(const LeaveOneOut& left_out, double probability, int64_t n) {
  const Vector within = ((left_out.cdf.array() - 0.5).abs() <= probability / 2).cast<double>();
  return GroupMean(within, left_out.group) * static_cast<double>(n);
}

int64_t DistinctLeftOut(const LeaveOneOut& left_out) {
  return left_out.group.empty() ? left_out.y.size() : GroupCount(left_out.group);
}

// The share of the variance of predicted means that is along an input, at the level where it is largest. 1 where the means do
// not vary at all: nothing is known then.
absl::StatusOr<double> ShareAlong(const VerdictContext& context, Index input) {
  const Matrix& x = context.data->levels.back().x;
  const Index lines = std::min<Index>(kLines, x.rows());
  const double low = x.col(input).minCoeff(), high = x.col(input).maxCoeff();
  Matrix at(lines * kSteps, x.cols());
  for (Index i = 0; i < lines; ++i) {
    at.middleRows(i * kSteps, kSteps).rowwise() = x.row(i * x.rows() / lines);
    // Off the regular values: there, a wave could look constant.
    for (Index s = 0; s < kSteps; ++s) {
      at(i * kSteps + s, input) = low + (high - low) * (static_cast<double>(s) + 0.382) / kSteps;
    }
  }
  double largest = 0;
  bool varies = false;
  for (int level = 0; level < context.model->levels(); ++level) {
    FIDELIO_ASSIGN_OR_RETURN(const Prediction p, context.model->Predict(at, {.level = level}));
    const double total = (p.mean.array() - p.mean.mean()).square().mean();
    if (!(total > 0)) continue;
    varies = true;
    double along = 0;
    for (Index i = 0; i < lines; ++i) {
      const auto line = p.mean.segment(i * kSteps, kSteps).array();
      along += (line - line.mean()).square().mean() / static_cast<double>(lines);
    }
    largest = std::max(largest, along / total);
  }
  return varies ? largest : 1;
}

std::string InputName(const VerdictContext& context, Index input) {
  const auto i = static_cast<size_t>(input);
  return i < context.input_names.size() ? context.input_names[i] : absl::StrCat("x", input + 1);
}

absl::Status WarnOfRegularInputs(const VerdictContext& context, std::vector<std::string>& warnings) {
  const Matrix& x = context.data->levels.back().x;
  Index varying = 0;
  for (Index d = 0; x.rows() > 0 && d < x.cols(); ++d) varying += x.col(d).minCoeff() < x.col(d).maxCoeff() ? 1 : 0;
  for (const RegularInput& regular : FindRegularInputs(x)) {
    if (varying > 1) {
      FIDELIO_ASSIGN_OR_RETURN(const double share, ShareAlong(context, regular.input));
      if (share < kLeastShare) continue;
    }
    warnings.push_back(
        absl::StrFormat("The %d values of input %s at fidelity \"%s\" are evenly spaced, %.4g apart. A wave with that "
                        "period would look "
                        "like a constant, and leave-one-out can't see it. Add a few runs at irregular inputs.",
                        regular.values, InputName(context, regular.input), context.fidelities.back(), regular.spacing));
  }
  return absl::OkStatus();
}

void WarnOfCopies(const VerdictContext& context, std::vector<std::string>& warnings) {
  for (size_t t = 0; t < context.data->levels.size(); ++t) {
    const LevelData& level = context.data->levels[t];
    const Index n = level.y.size();
    const Index copies = n - FindEqualRows(level.x).count;
    if (copies == 0) continue;
    Matrix rows(n, level.x.cols() + 1);
    rows << level.x, level.y;
    const Index exact = n - FindEqualRows(rows).count;
    std::string text = absl::StrFormat(
        "%d of %s of fidelity \"%s\" %s the inputs of others. Copies are left out together.", copies,
        Plural(n, "observation", "observations"), context.fidelities[t], copies == 1 ? "repeats" : "repeat");
    if (exact > 0) {
      absl::StrAppend(&text, " ",
                      exact == copies ? (copies == 1 ? "It repeats" : "All repeat")
                                      : absl::StrCat(exact, exact == 1 ? " repeats" : " repeat"),
                      " the output, too: check that no table was loaded twice.");
    }
    warnings.push_back(std::move(text));
  }
}

}  // namespace

ExpectedCounts ExpectedWithin(int64_t n, double p) {
  const auto m = static_cast<double>(n);
  if (n > kMostExact) {
    const double mean = m * p, half = NormalQuantile(0.975) * std::sqrt(mean * (1 - p));
    return {std::max<int64_t>(0, static_cast<int64_t>(std::floor(mean - half))),
            std::min(n, static_cast<int64_t>(std::ceil(mean + half)))};
  }
  ExpectedCounts counts{-1, n};
  double below = 0;  // P(X ≤ k)
  for (int64_t k = 0; k <= n; ++k) {
    const auto x = static_cast<double>(k);
    below += std::exp(std::lgamma(m + 1) - std::lgamma(x + 1) - std::lgamma(m - x + 1) + x * std::log(p) +
                      (m - x) * std::log1p(-p));
    if (counts.least < 0 && below >= 0.025) counts.least = k;
    if (below >= 0.975) {
      counts.most = k;
      break;
    }
  }
  counts.least = std::max<int64_t>(counts.least, 0);
  return counts;
}

Verdict Judge(const LeaveOneOut& left_out, int distinct_count, const std::string& fidelity) {
  Verdict verdict;
  verdict.distinct_count = distinct_count;
  verdict.more_needed = std::max(0, kLeastDistinct - distinct_count);
  const std::string more = absl::StrCat(verdict.more_needed, verdict.more_needed == 1 ? " more is" : " more are");
  if (left_out.y.size() == 0) {
    verdict.text = absl::StrFormat(
        "There are no observations of fidelity \"%s\", so its predictions cannot be checked. %d at distinct "
        "inputs are needed.",
        fidelity, kLeastDistinct);
    return verdict;
  }
  const int64_t n = DistinctLeftOut(left_out);
  const double within95 = Within(left_out, 0.95, n), within50 = Within(left_out, 0.5, n);
  const Vector error = (left_out.y - left_out.mean).cwiseAbs2();
  const Vector spread = (left_out.y.array() - GroupMean(left_out.y, left_out.group)).square();
  const double spread_mean = GroupMean(spread, left_out.group);
  const double r2 = spread_mean > 0 ? 1 - GroupMean(error, left_out.group) / spread_mean : 0;
  constexpr double kRounding = 1e-9;
  const bool overconfident = within95 < static_cast<double>(ExpectedWithin(n, 0.95).least) - kRounding;
  const std::string numbers = absl::StrFormat("%.0f of %d lie within their 95 %% intervals, and R² is %.2f",
                                              std::floor(within95 + kRounding), n, r2);

  if (verdict.more_needed > 0) {
    verdict.kind = VerdictKind::kTooFew;
    verdict.text = absl::StrFormat(
        "Fidelity \"%s\" was observed at %s, too few to judge its intervals: %s needed. Left out one at a time, "
        "%s%s.",
        fidelity, Plural(distinct_count, "distinct input", "distinct inputs"), more, numbers,
        overconfident ? ", which is already fewer than chance explains" : "");
    return verdict;
  }
  verdict.text =
      absl::StrFormat("Each distinct input of fidelity \"%s\" was left out and predicted: %s.", fidelity, numbers);
  if (overconfident) {
    verdict.kind = VerdictKind::kOverconfident;
    absl::StrAppend(&verdict.text, " That is fewer than chance explains: do not rely on the intervals.");
  } else if (spread_mean > 0 && r2 < 0.5) {
    verdict.kind = VerdictKind::kUninformative;
    absl::StrAppend(&verdict.text, " The intervals hold, but they are so wide that the model says little.");
  } else if (within50 > static_cast<double>(ExpectedWithin(n, 0.5).most) + kRounding) {
    verdict.kind = VerdictKind::kCautious;
    absl::StrAppend(&verdict.text,
                    absl::StrFormat(" %.0f lie within their 50 %% intervals, more than chance explains: errors are "
                                    "smaller than the model states.",
                                    std::floor(within50 + kRounding)));
  } else {
    verdict.kind = VerdictKind::kCalibrated;
    absl::StrAppend(&verdict.text, " That is within the range expected by chance.");
  }
  return verdict;
}

std::vector<RegularInput> FindRegularInputs(const Matrix& x) {
  std::vector<RegularInput> regular;
  for (Index d = 0; x.rows() > 0 && d < x.cols(); ++d) {
    std::vector<double> values(x.col(d).begin(), x.col(d).end());
    std::sort(values.begin(), values.end());
    const double range = values.back() - values.front();
    const auto same = [range](double a, double b) { return b - a <= kSameValue * range; };
    values.erase(std::unique(values.begin(), values.end(), same), values.end());
    const auto gaps = static_cast<int>(values.size()) - 1;
    if (gaps + 1 < kLeastValues) continue;
    const double spacing = (values.back() - values.front()) / gaps;
    bool equal = true;
    for (size_t i = 1; equal && i < values.size(); ++i) {
      equal = std::abs(values[i] - values[i - 1] - spacing) <= kRegularTolerance * spacing;
    }
    if (equal) regular.push_back({.input = d, .values = gaps + 1, .spacing = spacing});
  }
  return regular;
}

absl::StatusOr<Verdict> JudgeModel(const VerdictContext& context, const std::vector<LeaveOneOut>& left_out) {
  const int distinct = FindEqualRows(context.data->levels.back().x).count;
  Verdict verdict = Judge(left_out.back(), distinct, context.fidelities.back());
  FIDELIO_RETURN_IF_ERROR(WarnOfRegularInputs(context, verdict.warnings));
  WarnOfCopies(context, verdict.warnings);
  for (std::string& text : LeaveOneOutWarnings(left_out.back(), context.fidelities.back())) {
    verdict.warnings.push_back(std::move(text));
  }
  return verdict;
}

}  // namespace fidelio
