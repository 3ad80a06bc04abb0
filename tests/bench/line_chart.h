// LineChart: curves with a legend, as a self-contained SVG drawing.
#ifndef FIDELIO_TESTS_BENCH_LINE_CHART_H_
#define FIDELIO_TESTS_BENCH_LINE_CHART_H_

#include <cmath>
#include <string>
#include <vector>

namespace fidelio::bench {

struct Curve {
  std::string name;
  std::vector<double> x, y;  // of the same size; y above 0
};

struct LineChart {
  std::string title;
  std::string x_label, y_label;
  std::vector<Curve> curves;  // at most 8, a colour each
  double goal = NAN;          // a level of y that is marked across the chart; NaN: none
  std::string goal_label = {};
};

// The charts side by side, with linear x axes and logarithmic y axes; text and lines follow the reader's colour scheme.
std::string DrawCharts(const std::vector<LineChart>& charts);

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_LINE_CHART_H_
