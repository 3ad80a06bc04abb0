#include "core/baseline/baseline_posterior.h"

#include <algorithm>

#include "core/base/status_macros.h"
#include "core/baseline/baseline_model.h"
#include "core/emulator/reweigh.h"

namespace fidelio {

using Eigen::Index;

std::unique_ptr<Posterior::Block> BaselinePosterior::At(Matrix x, int level) const {
  class Rows : public Block {
   public:
    Rows(const BaselinePosterior& posterior, Matrix x, int level)
        : posterior_(posterior), x_(std::move(x)), level_(level) {}
    Gaussians Predict() override { return posterior_.Predict(x_, level_); }
    Matrix Gradient(const Matrix& mean_bar, const Matrix& variance_bar) override {
      return posterior_.Gradient(x_, level_, mean_bar, variance_bar);
    }

   private:
    const BaselinePosterior& posterior_;
    const Matrix x_;
    const int level_;
  };
  return std::make_unique<Rows>(*this, std::move(x), level);
}

absl::StatusOr<std::unique_ptr<const Posterior>> BaselinePosterior::Condition(const FittedState& before,
                                                                              const Dataset& data, int) const {
  const BaselineModel model(method_, ScaleData(data, 0, before.scaling));
  std::vector<StageParameters> stages = stages_;
  FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<const BaselinePosterior> after, model.Posterior(stages));
  for (size_t t = 0; t < stages.size(); ++t) {
    const int stage = static_cast<int>(t);
    std::vector<StageDraw>& draws = stages[t].draws;
    Vector weights(static_cast<Index>(draws.size()));
    for (size_t k = 0; k < draws.size(); ++k) weights[static_cast<Index>(k)] = draws[k].weight;
    weights = Reweigh(weights, after->LogLikelihoods(stage) - LogLikelihoods(stage));
    for (size_t k = 0; k < draws.size(); ++k) draws[k].weight = weights[static_cast<Index>(k)];
  }
  return model.Posterior(stages);
}

void BaselinePosterior::Describe(FitReport& report) const {
  report.draws = 0;
  for (const StageParameters& stage : stages_) {
    report.draws = std::max(report.draws, static_cast<int>(stage.draws.size()));
  }
  report.max_jitter = max_jitter();
}

int64_t BaselinePosterior::MemoryBytes(const Dataset& data) const {
  int64_t points = 0;
  for (const LevelData& level : data.levels) points += level.y.size();
  constexpr int64_t kOther = 16 << 10;
  return FactorBytes() + 8 * points * 6 * (data.dimension() + 4) + kOther;
}

}  // namespace fidelio
