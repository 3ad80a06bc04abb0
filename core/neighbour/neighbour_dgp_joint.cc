// NeighbourDgp at many inputs at once, and its leave-one-out predictions.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/base/equal_rows.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/random_streams.h"
#include "core/base/status_macros.h"
#include "core/dgp/moments/moment_joint.h"
#include "core/emulator/leave_one_out_weights.h"
#include "core/emulator/query_check.h"
#include "core/linalg/covariance_factor.h"
#include "core/neighbour/neighbour_dgp_impl.h"

namespace fidelio {
namespace {

using Eigen::Index;

}  // namespace

absl::Status NeighbourDgp::Impl::ForJoint(const Matrix& x, const std::vector<int>& levels, bool include_noise,
                                          int threads, const std::function<absl::Status()>& check,
                                          const std::function<bool(Index)>& wanted, const JointBody& body) const {
  const Index n = x.rows();
  const int highest = n > 0 ? levels.back() : 0;
  // Points of the stack's levels below its highest stand alone, level by level.
  const Index low =
      std::lower_bound(levels.begin(), levels.end(), upper == nullptr ? stacked() : stacked() - 1) - levels.begin();
  Vector low_mean(low);
  Matrix low_covariance = Matrix::Zero(low, low);
  for (Index begin = 0; begin < low;) {
    const int level = levels[begin];
    const Index count = std::upper_bound(levels.begin(), levels.begin() + low, level) - levels.begin() - begin;
    const Queries queries = Query(x.middleRows(begin, count), level, threads);
    for (Index i = 0; i < count; ++i) low_mean[begin + i] = queries.stencils[i][level].mean;
    low_covariance.block(begin, begin, count, count) = JointCovariance(*stack, level, queries.sites, threads);
    begin += count;
  }
  const auto to_user = [&](size_t draw, Vector& mean, Matrix& covariance) {
    mean = mean.array() * scaling.output_sd + scaling.output_mean;
    covariance *= scaling.output_sd * scaling.output_sd;
    for (Index i = 0; include_noise && i < n; ++i) covariance(i, i) += NoiseAt(levels[i], draw);
  };
  if (low == n) {
    to_user(0, low_mean, low_covariance);
    return wanted(0) ? body(0, low_mean, low_covariance) : absl::OkStatus();
  }

  Queries queries = Query(x.bottomRows(n - low), highest, threads);
  const Matrix covariance = JointCovariance(*stack, stacked() - 1, queries.sites, threads);
  for (MomentQueries& seen : queries.seen) seen.given_covariance = covariance;
  std::vector<int> own(levels.begin() + low, levels.end());
  for (int& level : own) level = OwnLevel(level);
  std::vector<Index> first = {0};
  for (const MomentPosterior& posterior : posteriors) first.push_back(first.back() + posterior.links());
  // As many draws at a time as there are threads, handed over in their order.
  const int count = static_cast<int>(draws.size()), workers = std::min(count, ResolveThreads(threads));
  struct Gaussian {
    Vector mean;
    Matrix covariance;
  };
  for (int begin = 0; begin < count; begin += workers) {
    if (check) FIDELIO_RETURN_IF_ERROR(check());
    const int now = std::min(workers, count - begin);
    std::vector<std::vector<Gaussian>> found(now);
    ParallelFor(now, workers, [&](int w) {
      const size_t draw = begin + w;
      found[w].resize(posteriors[draw].links());
      MomentJoint joint(posteriors[draw], queries.seen[draws[draw].structure], own);
      for (int l = 0; l < posteriors[draw].links(); ++l) {
        if (!wanted(first[draw] + l)) continue;
        Gaussian& to = found[w][l];
        Vector mean;
        Matrix within;
        joint.Under(l, mean, within);
        to.mean.resize(n);
        to.mean << low_mean, mean;
        to.covariance.setZero(n, n);
        to.covariance.topLeftCorner(low, low) = low_covariance;
        to.covariance.bottomRightCorner(n - low, n - low) = within;
        to_user(draw, to.mean, to.covariance);
      }
    });
    for (int w = 0; w < now; ++w) {
      for (size_t l = 0; l < found[w].size(); ++l) {
        const Index component = first[begin + w] + static_cast<Index>(l);
        if (!wanted(component)) continue;
        FIDELIO_RETURN_IF_ERROR(body(component, found[w][l].mean, found[w][l].covariance));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<JointPosterior> NeighbourDgp::JointMomentsAt(const Matrix& x, const std::vector<int>& wanted_levels,
                                                            const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckJointQuery(*this, x, wanted_levels));
  const Index n = x.rows();
  std::vector<int> order(n), sorted(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return wanted_levels[a] < wanted_levels[b]; });
  for (Index i = 0; i < n; ++i) sorted[i] = wanted_levels[order[i]];
  const Vector weights = impl_->Weights(n > 0 ? sorted.back() : 0);
  Matrix means(weights.size(), n), covariance = Matrix::Zero(n, n);
  FIDELIO_RETURN_IF_ERROR(impl_->ForJoint(
      x(order, Eigen::all), sorted, options.include_noise, options.threads, options.check, [](Index) { return true; },
      [&](Index k, Vector& mean, Matrix& within) {
        means.row(k) = mean.transpose();
        covariance += weights[k] * within;
        return absl::OkStatus();
      }));
  const Vector mean = means.transpose() * weights;
  const Matrix deviations = weights.cwiseSqrt().asDiagonal() * (means.rowwise() - mean.transpose());
  covariance.noalias() += deviations.transpose() * deviations;
  Vector widening(n);
  for (Index i = 0; i < n; ++i) widening[i] = std::sqrt(impl_->InflationAt(sorted[i]));
  covariance = widening.asDiagonal() * covariance * widening.asDiagonal();
  JointPosterior result{.mean = Vector(n), .covariance = Matrix(n, n)};
  for (Index j = 0; j < n; ++j) {
    result.mean[order[j]] = mean[j];
    for (Index i = j; i < n; ++i) {
      result.covariance(order[i], order[j]) = result.covariance(order[j], order[i]) =
          0.5 * (covariance(i, j) + covariance(j, i));
    }
  }
  return result;
}

absl::StatusOr<Matrix> NeighbourDgp::SamplePaths(const Matrix& x, const SampleOptions& options) const {
  if (options.count < 1) {
    return absl::InvalidArgumentError(absl::StrFormat("count: %d, want at least 1", options.count));
  }
  FIDELIO_RETURN_IF_ERROR(CheckJointSize(x));
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  const int level = options.level < 0 ? levels() - 1 : options.level;

  // Which samples come from which Gaussian: each is factorised once.
  Vector cumulative = impl_->Weights(level);
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
  FIDELIO_RETURN_IF_ERROR(impl_->ForJoint(
      x, std::vector<int>(x.rows(), level), options.include_noise, options.threads, {},
      [&](Index k) { return !samples[k].empty(); },
      [&](Index k, Vector& mean, Matrix& covariance) {
        absl::Status factorised = FactoriseCovariance(covariance, "covariance of sampled inputs");
        if (!factorised.ok()) return factorised;
        ParallelFor(static_cast<int>(samples[k].size()), options.threads, [&](int j) {
          Random random(options.seed, StreamOf(RandomUse::kPathNormal), static_cast<uint32_t>(samples[k][j]));
          const Vector path = (covariance * random.NormalVector(static_cast<int>(covariance.cols())) + mean - centre);
          paths.row(samples[k][j]) = (path * widening + centre).transpose();
        });
        return absl::OkStatus();
      }));
  return paths;
}

ObservedMixtures NeighbourDgp::Impl::LeftOutOfStack(int level) const {
  const int count = stack->count(level), n = std::min(count, kMostLeftOut);
  ObservedMixtures at{.y = Vector(n), .weight = Matrix::Ones(1, n), .mean = Matrix(1, n), .variance = Matrix(1, n)};
  std::vector<int> rows(static_cast<size_t>(n));
  const double unit = scaling.output_sd * scaling.output_sd;
  ParallelFor(n, 0, [&](int k) {
    const int i = static_cast<int>((2 * k + 1) * static_cast<int64_t>(count) / (2 * n));
    const Stencil stencil = stack->ReachWithout(level, i);
    const Vector& given = data.levels[level].noise_variance;
    at.y[k] = data.levels[level].y[i];
    at.mean(0, k) = stencil.mean * scaling.output_sd + scaling.output_mean;
    at.variance(0, k) = (stencil.variance + stack->noise(level)) * unit + (given.size() > 0 ? given[i] : 0);
    rows[k] = i;
  });
  at.group = FindEqualRows(Matrix(data.levels[level].x(rows, Eigen::all))).group;
  return at;
}

ObservedMixtures NeighbourDgp::Impl::LeftOutOfUpper(int level) const {
  const Vector weights = Weights(level);
  const Index n = data.levels[level].y.size();
  const EqualRows copies = FindEqualRows(data.levels[level].x);
  ObservedMixtures at{.y = data.levels[level].y,
                      .weight = Matrix(weights.size(), n),
                      .mean = Matrix(weights.size(), n),
                      .variance = Matrix(weights.size(), n),
                      .group = copies.group};
  Matrix log_density(weights.size(), copies.copies.empty() ? 0 : n);
  for (size_t i = 0, first = 0; i < draws.size(); first += posteriors[i].links(), ++i) {
    const auto own = posteriors[i].LeaveOneOut(OwnLevel(level));
    at.mean.middleRows(static_cast<Index>(first), own.mean.rows()) =
        own.mean.array() * scaling.output_sd + scaling.output_mean;
    at.variance.middleRows(static_cast<Index>(first), own.mean.rows()) =
        own.variance * scaling.output_sd * scaling.output_sd;
    if (log_density.cols() > 0) log_density.middleRows(static_cast<Index>(first), own.mean.rows()) = own.log_density;
  }
  for (Index i = 0; i < n; ++i) {
    at.weight.col(i) = log_density.cols() > 0 ? WeightsWithout(weights, log_density.col(i))
                                              : WeightsWithout(at.y[i], weights, at.mean.col(i), at.variance.col(i));
  }
  return at;
}

absl::StatusOr<std::vector<ObservedMixtures>> NeighbourDgp::LeaveOneOutMixtures() const {
  std::vector<ObservedMixtures> result;
  for (int level = 0; level < levels(); ++level) result.push_back(impl_->LeftOut(level));
  return result;
}

absl::StatusOr<std::vector<LeaveOneOut>> NeighbourDgp::LeaveOneOutPredictions() const {
  FIDELIO_ASSIGN_OR_RETURN(const std::vector<ObservedMixtures> mixtures, LeaveOneOutMixtures());
  std::vector<LeaveOneOut> result;
  for (const ObservedMixtures& mixture : mixtures) {
    result.push_back(Summarise(mixture));
    result.back().inflation = impl_->InflationAt(static_cast<int>(result.size()) - 1);
  }
  return result;
}

}  // namespace fidelio
