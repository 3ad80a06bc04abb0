#include "client/cli/report/scale.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

namespace fidelio::cli {

void RangeOf::Add(double value) {
  if (!std::isfinite(value)) return;
  lower_ = any_ ? std::min(lower_, value) : value;
  upper_ = any_ ? std::max(upper_, value) : value;
  any_ = true;
}

void RangeOf::Add(const Eigen::Ref<const Eigen::VectorXd>& values) {
  for (const double value : values) Add(value);
}

Range RangeOf::Padded(double share) const {
  if (!any_) return {};
  const double least = 1e-9 * std::max(std::abs(lower_), std::abs(upper_));
  if (upper_ - lower_ <= least) {
    const double half = lower_ == 0 ? 1 : std::max(std::abs(lower_) * 0.1, least);
    return {lower_ - half, upper_ + half};
  }
  const double margin = share * (upper_ - lower_);
  return {lower_ - margin, upper_ + margin};
}

std::vector<double> Ticks(const Range& range, int count) {
  const double rough = range.width() / std::max(count, 1);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double step = power * (rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10);
  std::vector<double> ticks;
  // Counted in steps, so that 0 is 0 and not what is left of additions.
  const double first = std::ceil(range.lower / step - 1e-9), last = std::floor(range.upper / step + 1e-9);
  for (double i = first; i <= last && ticks.size() < 50; ++i) ticks.push_back(i * step);
  return ticks;
}

std::string TickLabel(double value, double step) {
  if (std::abs(value) < 1e-9 * step) return "0";
  if (std::abs(value) >= 1e6 || std::abs(step) < 1e-4) return absl::StrFormat("%.3g", value);
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 4);
  return absl::StrFormat("%.*f", decimals, value);
}

std::string ShareText(double value) {
  if (value < 1 && value >= 0.9995) return "> 0.999";
  if (value > -1 && value <= -0.9995) return "< −0.999";
  return absl::StrFormat("%.3f", value);
}

std::string Short(double value) {
  const double size = std::abs(value);
  if (size >= 1000 && size < 1e7) return absl::StrFormat("%.0f", value);
  return absl::StrFormat("%.3g", value);
}

}  // namespace fidelio::cli
