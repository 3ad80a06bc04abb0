// The inside of a BaselineEmulator.
#ifndef FIDELIO_CORE_BASELINE_BASELINE_IMPL_H_
#define FIDELIO_CORE_BASELINE_BASELINE_IMPL_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/baseline/baseline_emulator.h"
#include "core/baseline/baseline_model.h"

namespace fidelio {

struct BaselineEmulator::Impl {
  BaselineMethod method;
  Dataset data;
  Scaling scaling;
  std::vector<bool> learn_noise;  // per level
  std::vector<StageParameters> stages;
  FitReport report;
  std::unique_ptr<const ScaledPosterior> posterior;
  // Per level, in the user's units: learned, and the mean of the given variances; of each Gaussian, and their mean.
  std::vector<Vector> noises;
  std::vector<double> noise;
  double inflation = 1;  // of the highest level's variances

  static absl::StatusOr<std::unique_ptr<Impl>> Build(Dataset data, const BaselineModel& model,
                                                     std::vector<StageParameters> stages, FitReport report);

  int levels() const { return static_cast<int>(data.levels.size()); }
  int LevelOf(int level) const { return level < 0 ? levels() - 1 : level; }
  double InflationAt(int level) const { return level + 1 == levels() ? inflation : 1; }

  // At some rows, in the user's units.
  Mixture PredictMixture(const Matrix& x, int level, bool include_noise) const;
  Matrix Gradient(const Matrix& x, int level, Matrix mean_bar, Matrix variance_bar) const;
  // body(first row, rows) for the rows of x, some at a time.
  static void ForBlocks(Eigen::Index rows, int threads,
                        const std::function<void(Eigen::Index begin, Eigen::Index n)>& body);
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_BASELINE_IMPL_H_
