// Ranges of axes, where their ticks stand, and what these say.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CLI_REPORT_SCALE_H_
#define FIDELIO_CLIENT_CLI_REPORT_SCALE_H_

#include <Eigen/Core>
#include <string>
#include <vector>

namespace fidelio::cli {

// lower < upper, both finite.
struct Range {
  double lower = 0;
  double upper = 1;

  double width() const { return upper - lower; }
};

// RangeOf: grows over the values that it sees; those that are not finite do not count.
class RangeOf {
 public:
  void Add(double value);
  void Add(const Eigen::Ref<const Eigen::VectorXd>& values);

  // With a margin on both sides, as a share of the width. Something around the value when all agree, 0 to 1 without any.
  Range Padded(double share) const;

 private:
  bool any_ = false;
  double lower_ = 0, upper_ = 0;
};

// Round numbers (1, 2 or 5 times a power of ten apart) within the range, about `count` of them.
std::vector<double> Ticks(const Range& range, int count);

// As many digits as tell ticks that far apart from each other: "0.25", "1200", "3e-07".
std::string TickLabel(double value, double step);

// Of a correlation or an R²: three decimals, and never a round 1 or 0 for what is not: "0.987", "> 0.999".
std::string ShareText(double value);

// Three or four digits, for people: "0.0123", "1.23e+08".
std::string Short(double value);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_REPORT_SCALE_H_
