// MfDgp at many inputs at once: the moments of the mixture of joint Gaussians, and samples of it.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/random_streams.h"
#include "core/base/status_macros.h"
#include "core/dgp/moments/mf_dgp.h"
#include "core/dgp/moments/mf_dgp_impl.h"
#include "core/dgp/moments/moment_joint.h"
#include "core/emulator/query_check.h"
#include "core/linalg/covariance_factor.h"
#include "core/linalg/parallel_product.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr int kDrawsAtATime = 8;        // whose covariances are added up while a tile is in the cache
constexpr double kLeastWeight = 1e-17;  // of a Gaussian: below it, it changes no bit

}  // namespace

MfDgp::Impl::JointQuery::JointQuery(const Impl& impl, const Matrix& x, const std::vector<int>& levels)
    : order(levels.size()), level(levels.size()), queries(impl.structures.size()), first(impl.structures.size()) {
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return levels[a] < levels[b]; });
  for (size_t i = 0; i < order.size(); ++i) level[i] = levels[order[i]];
  const Matrix scaled = impl.structures[0]->data.scaling.ScaleInputs(x(order, Eigen::all));
  for (size_t k = 0; k < impl.structures.size(); ++k) {
    first[k] = std::lower_bound(level.begin(), level.end(), impl.structures[k]->recipe.first_level) - level.begin();
    queries[k] = std::make_unique<MomentQueries>(*impl.structures[k], scaled.bottomRows(x.rows() - first[k]));
  }
}

std::unique_ptr<const MomentJoint> MfDgp::Impl::JointQuery::Of(const Impl& impl, size_t draw) const {
  const int structure = impl.draws[draw].structure;
  std::vector<int> own(level.begin() + first[structure], level.end());
  for (int& t : own) t -= impl.structures[structure]->recipe.first_level;
  return std::make_unique<const MomentJoint>(impl.posteriors[draw], *queries[structure], own);
}

// A draw whose structure leaves out the lower levels says nothing about them: there, f follows the other draws,
// independently of the levels above.
MfDgp::Impl::JointMixture::JointMixture(const Impl& impl, const JointQuery& query, const Members& members)
    : deviations(Matrix::Zero(members.component_weights.size(), query.level.size())),
      noise(Vector::Zero(query.level.size())),
      share(query.level.size()),
      widening(query.level.size()) {
  for (size_t i = 0; i < query.level.size(); ++i) {
    share[i] = impl.MembersAt(query.level[i]).weight / members.weight;
    widening[i] = std::sqrt(impl.InflationAt(query.level[i]));
  }
}

void MfDgp::Impl::JointMixture::Add(const Impl& impl, const JointQuery& query, const Members& members, size_t member,
                                    const MomentJoint& joint) {
  const size_t draw = members.draws[member];
  const MomentModel& structure = *impl.structures[impl.draws[draw].structure];
  const Scaling& scaling = structure.data.scaling;
  const Index first = query.first[impl.draws[draw].structure], n = noise.size();
  for (int l = 0; l < joint.links(); ++l) {
    deviations.row(members.first_component[member] + l).tail(n - first) =
        (joint.mean(l).array() * scaling.output_sd + scaling.output_mean).matrix().transpose();
  }
}

// Means, and the deviations from them, of those draws that know about a point.
void MfDgp::Impl::JointMixture::Finish(const Impl& impl, const JointQuery& query, const Members& members) {
  const Index n = noise.size();
  mean = (deviations.transpose() * members.component_weights).cwiseQuotient(share);
  for (size_t k = 0; k < members.draws.size(); ++k) {
    const size_t draw = members.draws[k];
    const MomentModel& structure = *impl.structures[impl.draws[draw].structure];
    const double sd = structure.data.scaling.output_sd, weight = impl.draws[draw].weight / members.weight;
    const Index first = query.first[impl.draws[draw].structure];
    auto rows = deviations.middleRows(members.first_component[k], impl.posteriors[draw].links());
    rows.rightCols(n - first).rowwise() -= mean.tail(n - first).transpose();
    for (Index i = first; i < n; ++i) {
      const double learned = impl.posteriors[draw].noise(query.level[i] - structure.recipe.first_level);
      noise[i] += weight * (learned * sd * sd + impl.given_noise[query.level[i]]);
    }
  }
  deviations = members.component_weights.cwiseSqrt().asDiagonal() * deviations;
  noise = noise.cwiseQuotient(share).cwiseProduct(widening.cwiseAbs2());
}

absl::Status MfDgp::Impl::JointWithin(const JointQuery& rows, JointMixture& row_mixture, const JointQuery& columns,
                                      JointMixture& column_mixture, const Members& members,
                                      const PredictOptions& options, Matrix& covariance) const {
  const bool same = &rows == &columns;
  const std::vector<JointTile> tiles = JointTiles(covariance.rows(), covariance.cols(), same);
  const int all = static_cast<int>(members.draws.size());
  for (int begin = 0; begin < all; begin += kDrawsAtATime) {
    if (options.check) FIDELIO_RETURN_IF_ERROR(options.check());
    const int now = std::min(kDrawsAtATime, all - begin);
    std::vector<std::unique_ptr<const MomentJoint>> down(now), across(now);
    ParallelFor(now, options.threads, [&](int w) {
      down[w] = rows.Of(*this, members.draws[begin + w]);
      row_mixture.Add(*this, rows, members, begin + w, *down[w]);
      if (same) return;
      across[w] = columns.Of(*this, members.draws[begin + w]);
      column_mixture.Add(*this, columns, members, begin + w, *across[w]);
    });
    ParallelFor(static_cast<int>(tiles.size()), options.threads, [&](int i) {
      MomentJoint::Scratch scratch;
      for (int w = 0; w < now; ++w) {
        const size_t draw = members.draws[begin + w];
        const int structure = draws[draw].structure;
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
        const double sd = structures[structure]->data.scaling.output_sd;
        auto to = covariance.block(tiles[i].row + above, tiles[i].column + before, known.rows, known.columns);
        for (int l = 0; l < down[w]->links(); ++l) {
          if (wanted[l]) to += sd * ((members.component_weights[component + l] * sd) * scratch.covariance[l]);
        }
      }
    });
  }
  row_mixture.Finish(*this, rows, members);
  if (!same) column_mixture.Finish(*this, columns, members);
  return absl::OkStatus();
}

absl::StatusOr<JointPosterior> MfDgp::JointMomentsAt(const Matrix& x, const std::vector<int>& levels,
                                                     const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckJointQuery(*this, x, levels));
  const Index n = x.rows();
  const Impl::JointQuery query(*impl_, x, levels);
  const Impl::Members members = impl_->MembersAt(n > 0 ? query.level.back() : 0);
  Impl::JointMixture mixture(*impl_, query, members);
  Matrix covariance = Matrix::Zero(n, n);
  FIDELIO_RETURN_IF_ERROR(impl_->JointWithin(query, mixture, query, mixture, members, options, covariance));
  MultiplyOnThreads(options.threads, Part::kLower, 1, mixture.deviations.transpose(), mixture.deviations, Write::kAdd,
                    covariance);
  // Levels ascend, so that in the lower triangle the row's level is the higher one: all draws of that level count.
  for (Index j = 0; j < n; ++j) {
    covariance.col(j).tail(n - j).array() *=
        mixture.widening.tail(n - j).array() / mixture.share.tail(n - j).array() * mixture.widening[j];
  }
  if (options.include_noise) covariance.diagonal() += mixture.noise;

  JointPosterior result{.mean = Vector(n), .covariance = Matrix(n, n)};
  result.mean(query.order) = mixture.mean;
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i) {
      result.covariance(query.order[i], query.order[j]) = result.covariance(query.order[j], query.order[i]) =
          covariance(i, j);
    }
  }
  return result;
}

absl::StatusOr<Matrix> MfDgp::JointColumnsAt(const Matrix& x, const std::vector<int>& levels,
                                             const std::vector<int>& columns, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckJointQuery(*this, x, levels));
  FIDELIO_RETURN_IF_ERROR(CheckColumns(columns, x.rows()));
  std::vector<int> column_levels;
  for (const int j : columns) column_levels.push_back(levels[j]);
  const Impl::JointQuery rows(*impl_, x, levels), some(*impl_, x(columns, Eigen::all), column_levels);
  const Impl::Members members = impl_->MembersAt(x.rows() > 0 ? rows.level.back() : 0);
  Impl::JointMixture row_mixture(*impl_, rows, members), column_mixture(*impl_, some, members);
  Matrix covariance = Matrix::Zero(x.rows(), static_cast<Index>(columns.size()));
  FIDELIO_RETURN_IF_ERROR(impl_->JointWithin(rows, row_mixture, some, column_mixture, members, options, covariance));
  MultiplyOnThreads(options.threads, Part::kAll, 1, row_mixture.deviations.transpose(), column_mixture.deviations,
                    Write::kAdd, covariance);
  Matrix result(covariance.rows(), covariance.cols());
  for (Index j = 0; j < covariance.cols(); ++j) {
    for (Index i = 0; i < covariance.rows(); ++i) {
      // The share of the higher of both levels, which is the larger one.
      result(rows.order[i], some.order[j]) = covariance(i, j) * row_mixture.widening[i] * column_mixture.widening[j] /
                                             std::max(row_mixture.share[i], column_mixture.share[j]);
    }
    const int at = some.order[j];
    if (options.include_noise) result(columns[at], at) += column_mixture.noise[j];
  }
  return result;
}

absl::StatusOr<Matrix> MfDgp::SamplePaths(const Matrix& x, const SampleOptions& options) const {
  if (options.count < 1) {
    return absl::InvalidArgumentError(absl::StrFormat("count: %d, want at least 1", options.count));
  }
  FIDELIO_RETURN_IF_ERROR(CheckJointSize(x));
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  const int level = options.level < 0 ? this->levels() - 1 : options.level;
  const Impl::Members members = impl_->MembersAt(level);
  const std::vector<int> levels(x.rows(), level);
  const Impl::JointQuery query(*impl_, x, levels);

  // Which samples come from which component: each component is factorised once.
  Vector cumulative = members.component_weights;
  std::partial_sum(cumulative.begin(), cumulative.end(), cumulative.begin());
  std::vector<std::vector<int>> samples(cumulative.size());
  Random choice(options.seed, StreamOf(RandomUse::kPathComponent));
  for (int i = 0; i < options.count; ++i) {
    const double at = choice.Uniform() * cumulative[cumulative.size() - 1];
    samples[std::upper_bound(cumulative.begin(), cumulative.end() - 1, at) - cumulative.begin()].push_back(i);
  }

  const double widening = std::sqrt(impl_->InflationAt(level));
  Vector centre = Vector::Zero(x.rows());  // of the mixture: variances grow about it
  if (widening > 1) {
    FIDELIO_ASSIGN_OR_RETURN(Prediction prediction, Predict(x, {.level = level, .threads = options.threads}));
    centre = std::move(prediction.mean);
  }

  Matrix paths(options.count, x.rows());
  std::vector<absl::Status> statuses(members.draws.size());
  ParallelFor(static_cast<int>(members.draws.size()), options.threads, [&](int k) {
    const size_t draw = members.draws[k];
    const MomentPosterior& posterior = impl_->posteriors[draw];
    const auto begin = samples.begin() + members.first_component[k];
    if (std::all_of(begin, begin + posterior.links(), [](const std::vector<int>& of) { return of.empty(); })) return;
    const std::unique_ptr<const MomentJoint> joint = query.Of(*impl_, draw);
    const MomentModel& structure = *impl_->structures[impl_->draws[draw].structure];
    const Scaling& scaling = structure.data.scaling;
    const double learned = posterior.noise(level - structure.recipe.first_level);
    Vector mean;
    Matrix covariance, normals;
    for (int l = 0; l < posterior.links(); ++l) {
      const std::vector<int>& own = *(begin + l);
      if (own.empty()) continue;
      if (options.check) statuses[k] = options.check();
      if (!statuses[k].ok()) return;
      joint->Under(l, mean, covariance);
      mean = (mean.array() * scaling.output_sd + scaling.output_mean).matrix();
      covariance = scaling.output_sd * (scaling.output_sd * covariance);
      if (options.include_noise) {
        covariance.diagonal().array() += learned * scaling.output_sd * scaling.output_sd + impl_->given_noise[level];
      }
      statuses[k] = FactoriseCovariance(covariance, "covariance of sampled inputs");
      if (!statuses[k].ok()) return;
      normals.resize(covariance.cols(), static_cast<Index>(own.size()));
      for (size_t j = 0; j < own.size(); ++j) {
        Random random(options.seed, StreamOf(RandomUse::kPathNormal), static_cast<uint32_t>(own[j]));
        for (double& z : normals.col(static_cast<Index>(j))) z = random.Normal();
      }
      const Matrix deviations = ((covariance * normals).colwise() + (mean - centre)) * widening;
      for (size_t j = 0; j < own.size(); ++j) {
        paths.row(own[j]) = (deviations.col(static_cast<Index>(j)) + centre).transpose();
      }
    }
  });
  for (const absl::Status& status : statuses) FIDELIO_RETURN_IF_ERROR(status);
  return paths;
}

}  // namespace fidelio
