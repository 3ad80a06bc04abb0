// Functions drawn from a NeighbourDgp: those of its stack (NeighbourPath), and above it those of one of its Gaussians
// (MomentPaths) on top of them, taken to the user's units.
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
#include "core/dgp/moments/moment_paths.h"
#include "core/emulator/query_check.h"
#include "core/neighbour/neighbour_dgp_impl.h"
#include "core/neighbour/neighbour_path.h"

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

class NeighbourDgp::Paths final : public PathSamples {
 public:
  Paths(const NeighbourDgp& model, const PathOptions& options)
      : model_(model), level_(options.level < 0 ? model.levels() - 1 : options.level), options_(options) {
    const Impl& impl = *model_.impl_;
    const int reached = std::min(level_, impl.stacked() - 1);
    for (int i = 0; i < options_.count; ++i) {
      Random random(options_.seed, StreamOf(RandomUse::kFunctionStack), static_cast<uint32_t>(options_.first + i));
      stacked_.push_back(std::make_unique<const NeighbourPath>(*impl.stack, reached, random));
    }
    if (!impl.IsUpper(level_)) return;
    const Matrix at_points = OfStack(impl.upper->sites(), options_.threads);
    ChooseGroups();
    ParallelFor(static_cast<int>(groups_.size()), options_.threads, [&](int g) {
      Group& group = groups_[g];
      std::vector<Random> random;
      for (const int i : group.path) {
        random.emplace_back(options_.seed, StreamOf(RandomUse::kFunction), static_cast<uint32_t>(options_.first + i));
      }
      group.functions = std::make_unique<MomentPaths>(impl.posteriors[group.draw], group.link, std::move(random),
                                                      at_points(Eigen::all, group.path));
    });
  }

  absl::StatusOr<Matrix> Evaluate(const Matrix& x) const override {
    FIDELIO_RETURN_IF_ERROR(CheckQuery(model_, x, level_));
    const Impl& impl = *model_.impl_;
    const Scaling& scaling = impl.scaling;
    const double widening = std::sqrt(impl.InflationAt(level_));
    Matrix paths(options_.count, x.rows());
    impl.ForBlocks(x, level_, options_.threads, [&](Index begin, const Impl::Queries& queries, auto& workspace) {
      const Index n = queries.x.rows();
      auto block = paths.middleCols(begin, n);
      Matrix f = OfStack(queries.sites, /*threads=*/1);
      for (const Group& group : groups_) {
        Matrix values(n, static_cast<Index>(group.path.size()));
        group.functions->Evaluate(queries.seen[impl.draws[group.draw].structure], impl.OwnLevel(level_), workspace,
                                  values, f(Eigen::all, group.path));
        f(Eigen::all, group.path) = values;
      }
      block = (f.transpose().array() * scaling.output_sd + scaling.output_mean).matrix();
      if (widening > 1) {  // about the mixture's mean, as variances
        const Eigen::RowVectorXd mean =
            MixtureMean(impl.PredictMixture(queries, level_, /*include_noise=*/false, workspace)).transpose();
        block = ((block.rowwise() - mean) * widening).rowwise() + mean;
      }
    });
    return paths;
  }

 private:
  // The functions of the stack at points that have reached their level: points × functions.
  Matrix OfStack(const std::vector<Site>& sites, int threads) const {
    Matrix f(static_cast<Index>(sites.size()), options_.count);
    ParallelFor(static_cast<int>(sites.size()), threads, [&](int i) {
      for (int k = 0; k < options_.count; ++k) f(i, k) = stacked_[k]->At(sites[i]);
    });
    return f;
  }

  // A draw and a link for every path.
  void ChooseGroups() {
    const Impl& impl = *model_.impl_;
    Vector cumulative = impl.Weights(level_);
    std::partial_sum(cumulative.begin(), cumulative.end(), cumulative.begin());
    std::vector<Index> firsts;  // component of each draw
    for (Index at = 0; const MomentPosterior& posterior : impl.posteriors) {
      firsts.push_back(at);
      at += posterior.links();
    }
    std::map<size_t, Group> groups;
    for (int i = 0; i < options_.count; ++i) {
      Random choice(options_.seed, StreamOf(RandomUse::kFunctionComponent), static_cast<uint32_t>(options_.first + i));
      const double at = choice.Uniform() * cumulative[cumulative.size() - 1];
      const Index component = std::upper_bound(cumulative.begin(), cumulative.end() - 1, at) - cumulative.begin();
      const size_t draw = std::upper_bound(firsts.begin(), firsts.end(), component) - firsts.begin() - 1;
      Group& group = groups[draw];
      group.draw = draw;
      group.path.push_back(i);
      group.link.push_back(static_cast<int>(component - firsts[draw]));
    }
    for (auto& [draw, group] : groups) groups_.push_back(std::move(group));
  }

  const NeighbourDgp& model_;
  const int level_;
  const PathOptions options_;
  std::vector<std::unique_ptr<const NeighbourPath>> stacked_;
  std::vector<Group> groups_;  // of levels that the upper ones have a say in
};

absl::StatusOr<std::unique_ptr<PathSamples>> NeighbourDgp::DrawPaths(const PathOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckPaths(*this, options));
  return std::make_unique<Paths>(*this, options);
}

}  // namespace fidelio
