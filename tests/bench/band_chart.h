// BandChart: predictions of functions of one input with their intervals, in a grid of panels, as a self-contained SVG drawing.
#ifndef FIDELIO_TESTS_BENCH_BAND_CHART_H_
#define FIDELIO_TESTS_BENCH_BAND_CHART_H_

#include <string>
#include <vector>

#include "core/base/types.h"

namespace fidelio::bench {

struct BandPanel {
  std::string note;                     // a line below the panel
  Vector x, truth, mean, lower, upper;  // of the same size, x ascending; the last two bound the interval
  Vector low_x, low_y;                  // observations of the low fidelity
  Vector high_x, high_y;                // and of the high one
};

struct BandChart {
  std::vector<std::string> columns, rows;      // titles
  std::vector<std::vector<BandPanel>> panels;  // [row][column]
};

// The panels of a column share their axes, which show the truth and every observation; intervals beyond them are cut.
std::string DrawBands(const BandChart& chart);

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_BAND_CHART_H_
