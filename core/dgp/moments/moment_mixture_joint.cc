// A MomentMixture at many inputs at once: the moments of the mixture of joint Gaussians, and samples of it.
#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/parallel.h"
#include "core/base/random_streams.h"
#include "core/base/status_macros.h"
#include "core/dgp/moments/moment_joint.h"
#include "core/dgp/moments/moment_mixture.h"
#include "core/gp/gaussian_samples.h"
#include "core/linalg/parallel_product.h"

namespace fidelio {
namespace {

using Eigen::Index;
using Members = MomentMixture::Members;

constexpr int kDrawsAtATime = 8;        // whose covariances are added up while a tile is in the cache
constexpr double kLeastWeight = 1e-17;  // of a Gaussian: below it, it changes no bit

// Inputs at levels of their own, sorted by level, as every structure sees those whose level it has.
struct JointQuery {
  std::vector<int> order, level;                        // of the sorted rows: index among the given ones, level
  std::vector<std::unique_ptr<MomentQueries>> queries;  // per structure
  std::vector<Index> first;                             // per structure: the first row that it sees

  JointQuery(const MomentMixture& mixture, const Matrix& x, const std::vector<int>& levels,
             const MomentMixture::First* given)
      : order(levels.size()), level(levels.size()) {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return levels[a] < levels[b]; });
    for (size_t i = 0; i < order.size(); ++i) level[i] = levels[order[i]];
    const Matrix sorted = x(order, Eigen::all);
    for (const auto& structure : mixture.structures()) {
      first.push_back(std::lower_bound(level.begin(), level.end(), structure->recipe.first_level) - level.begin());
      const auto own = sorted.bottomRows(x.rows() - first.back());
      queries.push_back(given != nullptr
                            ? std::make_unique<MomentQueries>(*structure, own, given->moments, given->covariance)
                            : std::make_unique<MomentQueries>(*structure, own));
    }
  }

  std::unique_ptr<const MomentJoint> Of(const MomentMixture& mixture, size_t draw) const {
    const int structure = mixture.draws()[draw].structure;
    std::vector<int> own(level.begin() + first[structure], level.end());
    for (int& t : own) t = mixture.OwnLevel(draw, t);
    return std::make_unique<const MomentJoint>(mixture.posteriors()[draw], *queries[structure], own);
  }
};

// What the Gaussians of the members say about each of the sorted points of a query.
struct JointMeans {
  Vector mean;
  Matrix deviations;  // component × point: the Gaussians' means less the mixture's, times the roots of their weights
  Vector share;       // of the weights of draws that know about the point

  JointMeans(const MomentMixture& mixture, const JointQuery& query, const Members& members)
      : deviations(Matrix::Zero(members.component_weights.size(), query.level.size())), share(query.level.size()) {
    for (size_t i = 0; i < query.level.size(); ++i) {
      share[i] = mixture.MembersAt(query.level[i]).weight / members.weight;
    }
  }

  // The means under a member; may be called from several threads, once for each. Then, Finish.
  void Add(const MomentMixture& mixture, const JointQuery& query, const Members& members, size_t member,
           const MomentJoint& joint) {
    const Index known = share.size() - query.first[mixture.draws()[members.draws[member]].structure];
    for (int l = 0; l < joint.links(); ++l) {
      deviations.row(members.first_component[member] + l).tail(known) = joint.mean(l).transpose();
    }
  }

  // Means, and the deviations from them, of those draws that know about a point.
  void Finish(const MomentMixture& mixture, const JointQuery& query, const Members& members) {
    mean = (deviations.transpose() * members.component_weights).cwiseQuotient(share);
    for (size_t k = 0; k < members.draws.size(); ++k) {
      const size_t draw = members.draws[k];
      const Index known = share.size() - query.first[mixture.draws()[draw].structure];
      auto rows = deviations.middleRows(members.first_component[k], mixture.posteriors()[draw].links());
      rows.rightCols(known).rowwise() -= mean.tail(known).transpose();
    }
    deviations = members.component_weights.cwiseSqrt().asDiagonal() * deviations;
  }
};

// Adds the weighted covariances within the Gaussians, between the sorted points of two queries, which may be one: then only
// the lower triangle counts. Fills the means.
absl::Status AddWithin(const MomentMixture& mixture, const JointQuery& rows, JointMeans& row_means,
                       const JointQuery& columns, JointMeans& column_means, const Members& members,
                       const Posterior::JointOptions& options, Matrix& covariance) {
  const bool same = &rows == &columns;
  const std::vector<JointTile> tiles = JointTiles(covariance.rows(), covariance.cols(), same);
  const int all = static_cast<int>(members.draws.size());
  for (int begin = 0; begin < all; begin += kDrawsAtATime) {
    if (options.check) FIDELIO_RETURN_IF_ERROR(options.check());
    const int now = std::min(kDrawsAtATime, all - begin);
    std::vector<std::unique_ptr<const MomentJoint>> down(now), across(now);
    ParallelFor(now, options.threads, [&](int w) {
      down[w] = rows.Of(mixture, members.draws[begin + w]);
      row_means.Add(mixture, rows, members, begin + w, *down[w]);
      if (same) return;
      across[w] = columns.Of(mixture, members.draws[begin + w]);
      column_means.Add(mixture, columns, members, begin + w, *across[w]);
    });
    ParallelFor(static_cast<int>(tiles.size()), options.threads, [&](int i) {
      MomentJoint::Scratch scratch;
      for (int w = 0; w < now; ++w) {
        const int structure = mixture.draws()[members.draws[begin + w]].structure;
        // Of the tile, what the draw knows about.
        const Index above = std::max<Index>(0, rows.first[structure] - tiles[i].row);
        const Index before = std::max<Index>(0, columns.first[structure] - tiles[i].column);
        if (above >= tiles[i].rows || before >= tiles[i].columns) continue;
        const JointTile known{.row = tiles[i].row + above - rows.first[structure],
                              .rows = tiles[i].rows - above,
                              .column = tiles[i].column + before - columns.first[structure],
                              .columns = tiles[i].columns - before};
        const Index component = members.first_component[begin + w];
        std::vector<bool> wanted;
        for (int l = 0; l < down[w]->links(); ++l) {
          wanted.push_back(members.component_weights[component + l] > kLeastWeight);
        }
        down[w]->Block(known, same ? *down[w] : *across[w], wanted, scratch);
        auto to = covariance.block(tiles[i].row + above, tiles[i].column + before, known.rows, known.columns);
        for (int l = 0; l < down[w]->links(); ++l) {
          if (wanted[l]) to += members.component_weights[component + l] * scratch.covariance[l];
        }
      }
    });
  }
  row_means.Finish(mixture, rows, members);
  if (!same) column_means.Finish(mixture, columns, members);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Posterior::JointGaussian> MomentMixture::Joint(const Matrix& x, const std::vector<int>& levels,
                                                              const Posterior::JointOptions& options,
                                                              const First* first) const {
  const Index n = x.rows();
  const JointQuery query(*this, x, levels, first);
  const Members& members = MembersAt(n > 0 ? query.level.back() : 0);
  JointMeans means(*this, query, members);
  Matrix covariance = Matrix::Zero(n, n);
  FIDELIO_RETURN_IF_ERROR(AddWithin(*this, query, means, query, means, members, options, covariance));
  MultiplyOnThreads(options.threads, Part::kLower, 1, means.deviations.transpose(), means.deviations, Write::kAdd,
                    covariance);
  // Levels ascend, so that in the lower triangle the row's level is the higher one: all draws of that level count.
  Posterior::JointGaussian result{.mean = Vector(n), .covariance = Matrix(n, n)};
  result.mean(query.order) = means.mean;
  const Vector factor = means.share.cwiseInverse();
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i) {
      result.covariance(query.order[i], query.order[j]) = result.covariance(query.order[j], query.order[i]) =
          covariance(i, j) * factor[i];
    }
  }
  return result;
}

absl::StatusOr<Matrix> MomentMixture::JointColumns(const Matrix& x, const std::vector<int>& levels,
                                                   const std::vector<int>& columns,
                                                   const Posterior::JointOptions& options) const {
  std::vector<int> column_levels;
  for (const int j : columns) column_levels.push_back(levels[j]);
  const JointQuery rows(*this, x, levels, nullptr), some(*this, x(columns, Eigen::all), column_levels, nullptr);
  const Members& members = MembersAt(x.rows() > 0 ? rows.level.back() : 0);
  JointMeans row_means(*this, rows, members), column_means(*this, some, members);
  Matrix covariance = Matrix::Zero(x.rows(), static_cast<Index>(columns.size()));
  FIDELIO_RETURN_IF_ERROR(AddWithin(*this, rows, row_means, some, column_means, members, options, covariance));
  MultiplyOnThreads(options.threads, Part::kAll, 1, row_means.deviations.transpose(), column_means.deviations,
                    Write::kAdd, covariance);
  Matrix result(covariance.rows(), covariance.cols());
  for (Index j = 0; j < covariance.cols(); ++j) {
    for (Index i = 0; i < covariance.rows(); ++i) {
      // The share of the higher of both levels, which is the larger one.
      result(rows.order[i], some.order[j]) = covariance(i, j) / std::max(row_means.share[i], column_means.share[j]);
    }
  }
  return result;
}

absl::StatusOr<Matrix> MomentMixture::Sample(const Matrix& x, int level, const Posterior::SampleRequest& request,
                                             const First* first) const {
  const Members& members = MembersAt(level);
  const JointQuery query(*this, x, std::vector<int>(x.rows(), level), first);
  // Which samples come from which Gaussian: each is factorised once.
  const Vector cumulative = RunningSums(members.component_weights);
  std::vector<std::vector<int>> samples(cumulative.size());
  Random choice(request.seed, StreamOf(RandomUse::kPathComponent));
  for (int i = 0; i < request.count; ++i) samples[ChooseGaussian(cumulative, choice)].push_back(i);

  Matrix paths(request.count, x.rows());
  std::vector<absl::Status> statuses(members.draws.size());
  ParallelFor(static_cast<int>(members.draws.size()), request.options.threads, [&](int k) {
    const size_t draw = members.draws[k];
    std::unique_ptr<const MomentJoint> joint;
    Vector mean;
    Matrix covariance;
    for (int l = 0; l < posteriors_[draw].links() && statuses[k].ok(); ++l) {
      const Index component = members.first_component[k] + l;
      if (samples[component].empty()) continue;
      if (request.options.check) statuses[k] = request.options.check();
      if (!statuses[k].ok()) return;
      if (joint == nullptr) joint = query.Of(*this, draw);
      joint->Under(l, mean, covariance);
      if (request.noise.size() > 0) covariance.diagonal().array() += request.noise[component];
      statuses[k] = SampleGaussian(mean, std::move(covariance), samples[component], request.seed,
                                   StreamOf(RandomUse::kPathNormal), paths);
    }
  });
  for (const absl::Status& status : statuses) FIDELIO_RETURN_IF_ERROR(status);
  return paths;
}

}  // namespace fidelio
