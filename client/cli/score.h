// How good predictions are, against outputs that are known.
#ifndef FIDELIO_CLIENT_CLI_SCORE_H_
#define FIDELIO_CLIENT_CLI_SCORE_H_

#include <Eigen/Core>

#include "client/cpp/types.h"

namespace fidelio::cli {

struct Scores {
  double rmse = 0;      // root of the mean squared error of the mean
  double r2 = 0;        // 1 − squared error / squared deviation of y from its mean; 0 when y is constant
  double coverage = 0;  // share of y between the first and the second quantile
};

// `prediction` has y.size() ≥ 1 points and two quantiles, the lower first. Safe from every thread.
Scores ComputeScores(const client::Prediction& prediction, const Eigen::VectorXd& y);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_SCORE_H_
