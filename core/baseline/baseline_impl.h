// The inside of a BaselineEmulator.
#ifndef FIDELIO_CORE_BASELINE_BASELINE_IMPL_H_
#define FIDELIO_CORE_BASELINE_BASELINE_IMPL_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/baseline/baseline_emulator.h"
#include "core/baseline/baseline_model.h"
#include "core/emulator/inflation.h"

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
  std::vector<double> given_noise;  // per level: mean of the given variances, 0 where none is given
  Inflation inflation;              // of the highest level's variances (core/emulator/inflation.h)

  static absl::StatusOr<std::unique_ptr<Impl>> Build(Dataset data, const BaselineModel& model,
                                                     std::vector<StageParameters> stages, FitReport report);

  // The observations of a level, each predicted without itself.
  ObservedMixtures LeftOut(int level) const;
  LeaveOneOut LeftOutAtTop() const { return Summarise(LeftOut(levels() - 1)); }
  // Once. What is given of `noise` is divided by the factor, which then leaves it as given.
  void Inflate(const Inflation& by);

  int levels() const { return static_cast<int>(data.levels.size()); }
  int LevelOf(int level) const { return level < 0 ? levels() - 1 : level; }
  double InflationAt(int level) const { return level + 1 == levels() ? inflation.factor : 1; }

  // At some rows, in the user's units.
  Mixture PredictMixture(const Matrix& x, int level, bool include_noise) const;
  Matrix Gradient(const Matrix& x, int level, Matrix mean_bar, Matrix variance_bar) const;
  // body(first row, rows) for the rows of x, some at a time.
  static void ForBlocks(Eigen::Index rows, int threads,
                        const std::function<void(Eigen::Index begin, Eigen::Index n)>& body);
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_BASELINE_IMPL_H_
