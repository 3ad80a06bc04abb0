// Chart: one panel of a figure as inline SVG: axes with ticks, and what is drawn between them, in the units of the data.
//
// Colours come from the page's style sheet by classes, so that they follow the reader's light or dark theme. What lies
// beyond the axes is cut off. Not thread-safe.
#ifndef FIDELIO_CLIENT_CLI_REPORT_CHART_H_
#define FIDELIO_CLIENT_CLI_REPORT_CHART_H_

#include <Eigen/Core>
#include <string>

#include "client/cli/report/scale.h"
#include "client/cli/report/svg.h"

namespace fidelio::cli {

class Chart {
 public:
  // Sizes in user units, which are about a pixel on a phone.
  struct Options {
    double width = 400;
    double height = 260;
    std::string x_label = {};
    std::string y_label = {};
    std::string title = {};    // in words, for those who can't see it
    bool equal_ticks = false;  // the same ticks on both axes, for diagonals
    bool y_ticks = true;
  };

  Chart(Options options, const Range& x, const Range& y);

  // Between lower and upper, along x.
  void Band(const Eigen::VectorXd& x, const Eigen::VectorXd& lower, const Eigen::VectorXd& upper,
            const std::string& classes);
  void Line(const Eigen::VectorXd& x, const Eigen::VectorXd& y, const std::string& classes);
  // `title` is shown when the mouse rests on it; escaped here.
  void Mark(double x, double y, Shape shape, double size, const std::string& classes, const std::string& title,
            double opacity = 1);
  void Segment(double x0, double y0, double x1, double y1, const std::string& classes);
  // From edge to edge.
  void Vertical(double x, const std::string& classes);
  void Horizontal(double y, const std::string& classes);
  void Box(double x0, double y0, double x1, double y1, const std::string& classes, const std::string& title = "");
  // Short lines on the lower edge.
  void Rug(const Eigen::VectorXd& x, const std::string& classes);
  // Text (escaped here) around a point, moved by so many user units.
  void Label(double x, double y, double right, double down, const std::string& text, const std::string& classes);

  // Where the data's coordinates are within the plot, for what has no method here.
  double X(double x) const { return (x - x_.lower) / x_.width() * plot_width_; }
  double Y(double y) const { return (y_.upper - y) / y_.width() * plot_height_; }
  void Raw(const std::string& svg) { content_ += svg; }

  std::string Svg() const;

 private:
  const Options options_;
  const Range x_, y_;
  double left_ = 0, plot_width_ = 0, plot_height_ = 0;
  std::string axes_;     // in coordinates of the whole
  std::string content_;  // in coordinates of the plot
};

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_REPORT_CHART_H_
