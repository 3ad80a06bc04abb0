// Functions drawn from an MfDgp: each from one of the Gaussians of its mixture (MomentPaths), taken to the user's units.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/random_streams.h"
#include "core/base/status_macros.h"
#include "core/dgp/moments/mf_dgp.h"
#include "core/dgp/moments/mf_dgp_impl.h"
#include "core/dgp/moments/moment_paths.h"
#include "core/emulator/query_check.h"

namespace fidelio {
namespace {

using Eigen::Index;

// The paths that come from one draw.
struct Group {
  size_t draw = 0;
  std::vector<int> path, link;
  std::unique_ptr<MomentPaths> functions = {};
};

}  // namespace

class MfDgp::Paths final : public PathSamples {
 public:
  Paths(const MfDgp& model, const PathOptions& options)
      : model_(model), level_(options.level < 0 ? model.levels() - 1 : options.level), options_(options) {
    const Impl& impl = *model_.impl_;
    const Impl::Members members = impl.MembersAt(level_);
    Vector cumulative = members.component_weights;
    std::partial_sum(cumulative.begin(), cumulative.end(), cumulative.begin());
    std::map<size_t, Group> groups;
    for (int i = 0; i < options_.count; ++i) {
      Random choice(options_.seed, StreamOf(RandomUse::kFunctionComponent), static_cast<uint32_t>(options_.first + i));
      const double at = choice.Uniform() * cumulative[cumulative.size() - 1];
      const Index component = std::upper_bound(cumulative.begin(), cumulative.end() - 1, at) - cumulative.begin();
      const auto& firsts = members.first_component;
      const auto member = std::upper_bound(firsts.begin(), firsts.end(), component) - firsts.begin() - 1;
      Group& group = groups[members.draws[member]];
      group.draw = members.draws[member];
      group.path.push_back(i);
      group.link.push_back(static_cast<int>(component - firsts[member]));
    }
    for (auto& [draw, group] : groups) groups_.push_back(std::move(group));
    ParallelFor(static_cast<int>(groups_.size()), options_.threads, [&](int g) {
      Group& group = groups_[g];
      std::vector<Random> random;
      for (const int i : group.path) {
        random.emplace_back(options_.seed, StreamOf(RandomUse::kFunction), static_cast<uint32_t>(options_.first + i));
      }
      group.functions = std::make_unique<MomentPaths>(impl.posteriors[group.draw], group.link, std::move(random));
    });
  }

  absl::StatusOr<Matrix> Evaluate(const Matrix& x) const override {
    FIDELIO_RETURN_IF_ERROR(CheckQuery(model_, x, level_));
    const Impl& impl = *model_.impl_;
    const double widening = std::sqrt(impl.InflationAt(level_));
    Matrix paths(options_.count, x.rows());
    impl.ForBlocks(x, options_.threads, [&](Index begin, Index n, const auto& queries, auto& workspace) {
      auto block = paths.middleCols(begin, n);
      for (const Group& group : groups_) {
        const int structure = impl.draws[group.draw].structure;
        const MomentModel& model = *impl.structures[structure];
        Matrix values(n, static_cast<Index>(group.path.size()));
        group.functions->Evaluate(queries[structure], level_ - model.recipe.first_level, workspace, values);
        const Scaling& scaling = model.data.scaling;
        block(group.path, Eigen::all) = (values.transpose().array() * scaling.output_sd + scaling.output_mean).matrix();
      }
      if (widening > 1) {  // about the mixture's mean, as variances
        const Eigen::RowVectorXd mean =
            MixtureMean(impl.PredictMixture(queries, level_, /*include_noise=*/false, workspace)).transpose();
        block = ((block.rowwise() - mean) * widening).rowwise() + mean;
      }
    });
    return paths;
  }

 private:
  const MfDgp& model_;
  const int level_;
  const PathOptions options_;
  std::vector<Group> groups_;
};

absl::StatusOr<std::unique_ptr<PathSamples>> MfDgp::DrawPaths(const PathOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckPaths(*this, options));
  return std::make_unique<Paths>(*this, options);
}

}  // namespace fidelio
