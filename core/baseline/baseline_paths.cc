// Functions drawn from a BaselineEmulator: those of its posterior, taken to the user's units.
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/random_streams.h"
#include "core/base/status_macros.h"
#include "core/baseline/baseline_emulator.h"
#include "core/baseline/baseline_impl.h"
#include "core/emulator/query_check.h"

namespace fidelio {
namespace {

using Eigen::Index;

}  // namespace

class BaselineEmulator::Paths final : public PathSamples {
 public:
  Paths(const BaselineEmulator& model, const PathOptions& options)
      : model_(model), level_(model.impl_->LevelOf(options.level)), options_(options) {
    std::vector<Random> random;
    for (int i = 0; i < options_.count; ++i) {
      random.emplace_back(options_.seed, StreamOf(RandomUse::kFunction), static_cast<uint32_t>(options_.first + i));
    }
    functions_ = model_.impl_->posterior->Draw(level_, std::move(random));
  }

  absl::StatusOr<Matrix> Evaluate(const Matrix& x) const override {
    FIDELIO_RETURN_IF_ERROR(CheckQuery(model_, x, level_));
    const Impl& impl = *model_.impl_;
    const double widening = std::sqrt(impl.InflationAt(level_));
    Matrix paths(options_.count, x.rows());
    Impl::ForBlocks(x.rows(), options_.threads, [&](Index begin, Index n) {
      const Matrix rows = x.middleRows(begin, n);
      auto block = paths.middleCols(begin, n);
      block = functions_->Evaluate(impl.scaling.ScaleInputs(rows)).transpose();
      block = block.array() * impl.scaling.output_sd + impl.scaling.output_mean;
      if (widening > 1) {  // about the mixture's mean, as variances
        const Eigen::RowVectorXd mean =
            MixtureMean(impl.PredictMixture(rows, level_, /*include_noise=*/false)).transpose();
        block = ((block.rowwise() - mean) * widening).rowwise() + mean;
      }
    });
    return paths;
  }

 private:
  const BaselineEmulator& model_;
  const int level_;
  const PathOptions options_;
  std::unique_ptr<const ScaledPaths> functions_;
};

absl::StatusOr<std::unique_ptr<PathSamples>> BaselineEmulator::DrawPaths(const PathOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckPaths(*this, options));
  return std::make_unique<Paths>(*this, options);
}

}  // namespace fidelio
