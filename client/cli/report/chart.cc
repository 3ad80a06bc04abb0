#include "client/cli/report/chart.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace fidelio::cli {
namespace {

constexpr double kTop = 8, kRight = 12, kBottom = 22, kLabel = 15;  // around the plot, in user units
constexpr double kCharacter = 6.2;                                  // width of one, about
constexpr double kNameCharacter = 8;                                // the same of axes' names, which are larger

std::string C(double value) { return Coordinate(value); }

std::string Text(double x, double y, const std::string& classes, const std::string& text,
                 const std::string& more = "") {
  return absl::StrCat("<text x=\"", C(x), "\" y=\"", C(y), "\" class=\"", classes, "\"", more, ">", Escape(text),
                      "</text>");
}

// As much of a name as fits, cut between characters.
std::string FitText(const std::string& text, double width) {
  const auto most = static_cast<size_t>(std::max(4.0, width / kNameCharacter));
  size_t characters = 0, kept = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((text[i] & 0xC0) == 0x80) continue;
    if (++characters == most) kept = i;
  }
  return characters <= most ? text : text.substr(0, kept) + "…";
}

}  // namespace

Chart::Chart(Options options, const Range& x, const Range& y) : options_(std::move(options)), x_(x), y_(y) {
  const double bottom = kBottom + (options_.x_label.empty() ? 0 : kLabel);
  plot_height_ = options_.height - kTop - bottom;
  const std::vector<double> y_ticks = Ticks(y_, options_.height > 220 ? 5 : 4);
  std::vector<std::string> labels;
  size_t longest = 1;
  for (const double tick : y_ticks) {
    labels.push_back(TickLabel(tick, y_ticks.size() > 1 ? y_ticks[1] - y_ticks[0] : y_.width()));
    longest = std::max(longest, labels.back().size());
  }
  left_ =
      (options_.y_ticks ? 9 + kCharacter * static_cast<double>(longest) : 4) + (options_.y_label.empty() ? 0 : kLabel);
  plot_width_ = options_.width - left_ - kRight;
  const double base = kTop + plot_height_;

  for (size_t i = 0; i < y_ticks.size(); ++i) {
    const double at = kTop + Y(y_ticks[i]);
    absl::StrAppend(&axes_, "<path class=\"grid\" d=\"M", C(left_), " ", C(at), "H", C(left_ + plot_width_), "\"/>");
    if (options_.y_ticks) axes_ += Text(left_ - 5, at + 3.7, "tick end", labels[i]);
  }
  const std::vector<double> x_ticks =
      options_.equal_ticks ? y_ticks : Ticks(x_, static_cast<int>(std::clamp(plot_width_ / 62, 2.0, 7.0)));
  const double step = x_ticks.size() > 1 ? x_ticks[1] - x_ticks[0] : x_.width();
  double free = 0;  // labels do not touch each other
  for (const double tick : x_ticks) {
    if (tick < x_.lower || tick > x_.upper) continue;
    const double at = left_ + X(tick);
    absl::StrAppend(&axes_, "<path class=\"grid\" d=\"M", C(at), " ", C(kTop), "V", C(base), "\"/>");
    const std::string label = TickLabel(tick, step);
    const double half = kCharacter * static_cast<double>(label.size()) / 2;
    // Letters may be a little larger than they are counted with: the style sheet's are, on phones.
    if (at - half < free || at + 1.15 * half > options_.width) continue;
    free = at + half + 6;
    axes_ += Text(at, base + 14, "tick mid", label);
  }
  absl::StrAppend(&axes_, "<path class=\"axis\" d=\"M", C(left_), " ", C(kTop), "V", C(base), "H",
                  C(left_ + plot_width_), "\"/>");
  if (!options_.x_label.empty()) {
    axes_ += Text(left_ + plot_width_ / 2, options_.height - 5, "name mid", FitText(options_.x_label, plot_width_));
  }
  if (!options_.y_label.empty()) {
    const double middle = kTop + plot_height_ / 2;
    axes_ += Text(11, middle, "name mid", FitText(options_.y_label, plot_height_),
                  absl::StrCat(" transform=\"rotate(-90 11 ", C(middle), ")\""));
  }
}

void Chart::Band(const Eigen::VectorXd& x, const Eigen::VectorXd& lower, const Eigen::VectorXd& upper,
                 const std::string& classes) {
  if (x.size() == 0) return;
  absl::StrAppend(&content_, "<path class=\"", classes, "\" d=\"M");
  for (Eigen::Index i = 0; i < x.size(); ++i) absl::StrAppend(&content_, i ? "L" : "", C(X(x[i])), " ", C(Y(upper[i])));
  for (Eigen::Index i = x.size(); i-- > 0;) absl::StrAppend(&content_, "L", C(X(x[i])), " ", C(Y(lower[i])));
  content_ += "Z\"/>";
}

void Chart::Line(const Eigen::VectorXd& x, const Eigen::VectorXd& y, const std::string& classes) {
  if (x.size() == 0) return;
  absl::StrAppend(&content_, "<path class=\"", classes, "\" d=\"M");
  for (Eigen::Index i = 0; i < x.size(); ++i) absl::StrAppend(&content_, i ? "L" : "", C(X(x[i])), " ", C(Y(y[i])));
  content_ += "\"/>";
}

void Chart::Mark(double x, double y, Shape shape, double size, const std::string& classes, const std::string& title,
                 double opacity) {
  const std::string attributes = absl::StrCat(
      "class=\"", classes, "\"", opacity < 1 ? absl::StrCat(" opacity=\"", C(std::max(opacity, 0.0)), "\"") : "");
  content_ += ShapeSvg(shape, X(x), Y(y), size, attributes,
                       title.empty() ? "" : absl::StrCat("<title>", Escape(title), "</title>"));
}

void Chart::Segment(double x0, double y0, double x1, double y1, const std::string& classes) {
  absl::StrAppend(&content_, "<path class=\"", classes, "\" d=\"M", C(X(x0)), " ", C(Y(y0)), "L", C(X(x1)), " ",
                  C(Y(y1)), "\"/>");
}

void Chart::Vertical(double x, const std::string& classes) { Segment(x, y_.lower, x, y_.upper, classes); }

void Chart::Horizontal(double y, const std::string& classes) { Segment(x_.lower, y, x_.upper, y, classes); }

void Chart::Box(double x0, double y0, double x1, double y1, const std::string& classes, const std::string& title) {
  const double left = std::min(X(x0), X(x1)), top = std::min(Y(y0), Y(y1));
  absl::StrAppend(&content_, "<rect class=\"", classes, "\" x=\"", C(left), "\" y=\"", C(top), "\" width=\"",
                  C(std::abs(X(x1) - X(x0))), "\" height=\"", C(std::abs(Y(y1) - Y(y0))), "\"");
  content_ += title.empty() ? "/>" : absl::StrCat("><title>", Escape(title), "</title></rect>");
}

void Chart::Rug(const Eigen::VectorXd& x, const std::string& classes) {
  if (x.size() == 0) return;
  absl::StrAppend(&content_, "<path class=\"", classes, "\" d=\"");
  for (const double at : x) absl::StrAppend(&content_, "M", C(X(at)), " ", C(plot_height_), "v-5");
  content_ += "\"/>";
}

void Chart::Label(double x, double y, double right, double down, const std::string& text, const std::string& classes) {
  content_ += Text(X(x) + right, Y(y) + down, classes, text);
}

std::string Chart::Svg() const {
  // The inner picture cuts off what lies beyond it.
  return absl::StrCat("<svg viewBox=\"0 0 ", C(options_.width), " ", C(options_.height),
                      "\" role=\"img\" aria-label=\"", Escape(options_.title), "\">", axes_, "<svg x=\"", C(left_),
                      "\" y=\"", C(kTop), "\" width=\"", C(plot_width_), "\" height=\"", C(plot_height_), "\">",
                      content_, "</svg></svg>\n");
}

}  // namespace fidelio::cli
