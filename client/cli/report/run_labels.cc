#include "client/cli/report/run_labels.h"

#include <algorithm>
#include <utility>

namespace fidelio::cli {
namespace {

constexpr double kDigit = 7;  // width of one, with room for larger letters on phones
constexpr double kSpace = 7;  // between labels: 4 and 1 are not 41
constexpr double kGap = 2.5;  // between line and label
constexpr double kFirstRow = 9, kRowHeight = 10.5;

}  // namespace

std::vector<LabelPlace> PlaceLabels(const std::vector<double>& at, const std::vector<std::string>& texts,
                                    double width) {
  std::vector<LabelPlace> places;
  std::vector<std::vector<std::pair<double, double>>> rows;  // from, to: what is taken of each
  for (size_t i = 0; i < at.size(); ++i) {
    const double size = kDigit * static_cast<double>(texts[i].size());
    LabelPlace place;
    place.on_left = at[i] + kGap + size > width;
    place.right = place.on_left ? -kGap : kGap;
    const double from = place.on_left ? at[i] - kGap - size : at[i] + kGap, to = from + size;
    const auto free = [&](const std::vector<std::pair<double, double>>& row) {
      return std::none_of(row.begin(), row.end(),
                          [&](const auto& taken) { return from < taken.second + kSpace && taken.first < to + kSpace; });
    };
    const auto row = std::find_if(rows.begin(), rows.end(), free);
    place.down = kFirstRow + kRowHeight * static_cast<double>(row - rows.begin());
    if (row == rows.end()) {
      rows.push_back({{from, to}});
    } else {
      row->emplace_back(from, to);
    }
    places.push_back(place);
  }
  return places;
}

}  // namespace fidelio::cli
