// Leave-one-out predictions of a FittedEmulator. Its Gaussians were learned with the observation: their weights are divided by the
// density that they give it and its copies (core/emulator/leave_one_out_weights.h).
#include <utility>

#include "core/base/equal_rows.h"
#include "core/base/status_macros.h"
#include "core/emulator/fitted_emulator.h"
#include "core/emulator/leave_one_out_weights.h"

namespace fidelio {

using Eigen::Index;

absl::StatusOr<ObservedMixtures> LeaveOut(const FittedState& state, const Posterior& posterior, int level,
                                          int threads) {
  FIDELIO_ASSIGN_OR_RETURN(Posterior::LeftOut own, posterior.LeaveOneOut(state, level, threads));
  const LevelData& data = state.data.levels[level];
  const double mean = state.scaling.output_mean, sd = state.scaling.output_sd;
  ObservedMixtures at;
  at.y = own.rows.empty() ? data.y : Vector(data.y(own.rows));
  at.group = FindEqualRows(own.rows.empty() ? data.x : Matrix(data.x(own.rows, Eigen::all))).group;
  if (own.weight.size() == 0) {
    const Vector weights = posterior.Weights(level), y = (at.y.array() - mean) / sd;
    own.weight.resize(weights.size(), y.size());
    for (Index i = 0; i < y.size(); ++i) {
      own.weight.col(i) = own.log_density.cols() > 0
                              ? WeightsWithout(weights, own.log_density.col(i))
                              : WeightsWithout(y[i], weights, own.mean.col(i), own.variance.col(i));
    }
  }
  at.weight = std::move(own.weight);
  at.mean = own.mean.array() * sd + mean;
  at.variance = own.variance * sd * sd;
  return at;
}

absl::StatusOr<std::vector<ObservedMixtures>> FittedEmulator::LeaveOneOutMixtures() const {
  std::vector<ObservedMixtures> result;
  for (int level = 0; level < levels(); ++level) {
    FIDELIO_ASSIGN_OR_RETURN(ObservedMixtures at, LeaveOut(state_, *posterior_, level, /*threads=*/0));
    result.push_back(std::move(at));
  }
  return result;
}

absl::StatusOr<std::vector<LeaveOneOut>> FittedEmulator::LeaveOneOutPredictions() const {
  FIDELIO_ASSIGN_OR_RETURN(const std::vector<ObservedMixtures> mixtures, LeaveOneOutMixtures());
  std::vector<LeaveOneOut> result;
  for (const ObservedMixtures& mixture : mixtures) {
    result.push_back(Summarise(mixture));
    result.back().inflation = InflationAt(static_cast<int>(result.size()) - 1);
  }
  return result;
}

}  // namespace fidelio
