// Scorer: how good predictions are, against outputs that are known.
//
// Predictions come in pieces; memory does not grow with them. Not thread-safe.
#ifndef FIDELIO_CLIENT_CLI_SCORE_H_
#define FIDELIO_CLIENT_CLI_SCORE_H_

#include <Eigen/Core>
#include <cstdint>
#include <optional>

#include "client/cpp/types.h"

namespace fidelio::cli {

struct Scores {
  int64_t points = 0;
  double rmse = 0;      // root of the mean squared error of the mean
  double r2 = 0;        // 1 − squared error / squared deviation of y from its mean; 0 when y is constant
  double coverage = 0;  // share of y between the first and the second quantile
  // The same of the median, unless an older server has none.
  std::optional<double> median_rmse = {}, median_r2 = {};
};

class Scorer {
 public:
  // `prediction` has y.size() ≥ 1 points and two quantiles, the lower first.
  void Add(const client::Prediction& prediction, const Eigen::VectorXd& y);

  // Of all that was added; zeros before.
  Scores scores() const;

 private:
  int64_t count_ = 0;
  double squared_error_ = 0;  // Σ(y − mean)²
  double mean_ = 0;           // of y
  double deviation_ = 0;      // Σ(y − ȳ)²
  int64_t covered_ = 0;
  bool has_medians_ = true;
  double median_squared_error_ = 0;  // Σ(y − median)²
};

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_SCORE_H_
