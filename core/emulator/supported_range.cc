#include "core/emulator/supported_range.h"

#include <algorithm>

namespace fidelio {

ZRange SupportedRange::Around(double median) const {
  return {.lower = std::min(least, median) - margin, .upper = std::max(most, median) + margin};
}

std::vector<SupportedRange> SupportedRanges(const Dataset& transformed) {
  std::vector<SupportedRange> ranges;
  for (const LevelData& level : transformed.levels) {
    SupportedRange range = ranges.empty() ? SupportedRange() : ranges.back();
    if (level.y.size() > 0) {
      range = {.least = level.y.minCoeff(), .most = level.y.maxCoeff()};
      range.margin = std::max(1.0, 0.5 * (range.most - range.least));
    }
    ranges.push_back(range);
  }
  return ranges;
}

}  // namespace fidelio
