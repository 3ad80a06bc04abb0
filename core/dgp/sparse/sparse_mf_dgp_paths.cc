// Functions drawn from a SparseMfDgp (SparsePaths), taken to the user's units.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/random_streams.h"
#include "core/base/status_macros.h"
#include "core/dgp/sparse/sparse_mf_dgp.h"
#include "core/dgp/sparse/sparse_mf_dgp_impl.h"
#include "core/dgp/sparse/sparse_paths.h"
#include "core/emulator/query_check.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr Index kPathBlock = 64;  // inputs that one thread works on at a time
constexpr int kPathGroup = 32;    // functions that are drawn, and evaluated, at a time

}  // namespace

class SparseMfDgp::Paths final : public PathSamples {
 public:
  Paths(const SparseMfDgp& model, const PathOptions& options)
      : model_(model), level_(options.level < 0 ? model.levels() - 1 : options.level), options_(options) {
    groups_.resize((options_.count + kPathGroup - 1) / kPathGroup);
    ParallelFor(static_cast<int>(groups_.size()), options_.threads, [&](int g) {
      std::vector<Random> random;
      for (int i = g * kPathGroup; i < std::min(options_.count, (g + 1) * kPathGroup); ++i) {
        random.emplace_back(options_.seed, StreamOf(RandomUse::kFunction), static_cast<uint32_t>(options_.first + i));
      }
      groups_[g] = std::make_unique<const SparsePaths>(model_.impl_->posterior, level_, std::move(random));
    });
  }

  absl::StatusOr<Matrix> Evaluate(const Matrix& x) const override {
    FIDELIO_RETURN_IF_ERROR(CheckQuery(model_, x, level_));
    const Scaling& scaling = model_.impl_->scaling;
    Matrix paths(options_.count, x.rows());
    ParallelFor(static_cast<int>((x.rows() + kPathBlock - 1) / kPathBlock), options_.threads, [&](int b) {
      const Index begin = b * kPathBlock, n = std::min(kPathBlock, x.rows() - begin);
      const Matrix rows = scaling.ScaleInputs(x.middleRows(begin, n));
      for (size_t g = 0; g < groups_.size(); ++g) {
        const Matrix f = groups_[g]->Evaluate(rows);
        paths.block(static_cast<Index>(g) * kPathGroup, begin, f.cols(), n) =
            (f.transpose().array() * scaling.output_sd + scaling.output_mean).matrix();
      }
    });
    if (const double widening = std::sqrt(model_.impl_->InflationAt(level_));
        widening > 1) {  // about the mean, as variances
      PredictOptions options;
      options.level = level_;
      options.threads = options_.threads;
      FIDELIO_ASSIGN_OR_RETURN(const Prediction at, model_.Predict(x, options));
      paths = ((paths.rowwise() - at.mean.transpose()) * widening).rowwise() + at.mean.transpose();
    }
    return paths;
  }

 private:
  const SparseMfDgp& model_;
  const int level_;
  const PathOptions options_;
  std::vector<std::unique_ptr<const SparsePaths>> groups_;
};

absl::StatusOr<std::unique_ptr<PathSamples>> SparseMfDgp::DrawPaths(const PathOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckPaths(*this, options));
  return std::make_unique<Paths>(*this, options);
}

}  // namespace fidelio
