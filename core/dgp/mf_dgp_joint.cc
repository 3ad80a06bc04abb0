// MfDgp at many inputs at once: the moments of the mixture of joint Gaussians, and samples of it.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/status_macros.h"
#include "core/dgp/mf_dgp.h"
#include "core/dgp/mf_dgp_impl.h"
#include "core/dgp/moment_joint.h"
#include "core/emulator/query_check.h"
#include "core/linalg/covariance_factor.h"
#include "core/linalg/product.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr uint32_t kComponentStream = 1, kPathStream = 2;  // of a SampleOptions::seed

}  // namespace

void MfDgp::Impl::ToUserUnits(size_t draw, const std::vector<int>& levels, bool include_noise, Vector& mean,
                              Matrix& covariance) const {
  const MomentModel& structure = *structures[draws[draw].structure];
  const Scaling& scaling = structure.data.scaling;
  mean = (mean.array() * scaling.output_sd + scaling.output_mean).matrix();
  covariance *= scaling.output_sd;
  covariance *= scaling.output_sd;
  if (!include_noise) return;
  for (size_t i = 0; i < levels.size(); ++i) {
    const double learned = posteriors[draw].noise(levels[i] - structure.recipe.first_level);
    covariance(i, i) += learned * scaling.output_sd * scaling.output_sd + given_noise[levels[i]];
  }
}

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

MomentJoint MfDgp::Impl::JointQuery::Of(const Impl& impl, size_t draw) const {
  const int structure = impl.draws[draw].structure;
  std::vector<int> own(level.begin() + first[structure], level.end());
  for (int& t : own) t -= impl.structures[structure]->recipe.first_level;
  return MomentJoint(impl.posteriors[draw], *queries[structure], own);
}

// A draw whose structure leaves out the lower levels says nothing about them: there, f follows the other draws,
// independently of the levels above.
absl::StatusOr<JointPosterior> MfDgp::JointMomentsAt(const Matrix& x, const std::vector<int>& levels,
                                                     const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckJointQuery(*this, x, levels));
  const Index n = x.rows();
  const Impl::JointQuery query(*impl_, x, levels);
  const int top = n > 0 ? query.level.back() : 0;
  const Impl::Members members = impl_->MembersAt(top);
  const int draws = static_cast<int>(members.draws.size()), workers = std::min(draws, ResolveThreads(options.threads));
  Matrix means = Matrix::Zero(members.component_weights.size(), n);
  Matrix covariance = Matrix::Zero(n, n);
  // As many draws at a time as there are threads, added up in their order: the sum does not depend on the threads.
  std::vector<Matrix> within(workers);
  for (int begin = 0; begin < draws; begin += workers) {
    if (options.check) FIDELIO_RETURN_IF_ERROR(options.check());
    const int now = std::min(workers, draws - begin);
    ParallelFor(now, workers, [&](int w) {
      const size_t draw = members.draws[begin + w];
      const Index first = query.first[impl_->draws[draw].structure], own = n - first;
      const std::vector<int> own_levels(query.level.begin() + first, query.level.end());
      MomentJoint joint = query.Of(*impl_, draw);
      within[w].setZero(own, own);
      Vector mean;
      Matrix covariance_under;
      for (int l = 0; l < impl_->posteriors[draw].links(); ++l) {
        const Index component = members.first_component[begin + w] + l;
        joint.Under(l, mean, covariance_under);
        impl_->ToUserUnits(draw, own_levels, options.include_noise, mean, covariance_under);
        means.row(component).tail(own) = mean.transpose();
        within[w] += members.component_weights[component] * covariance_under;
      }
    });
    for (int w = 0; w < now; ++w) covariance.bottomRightCorner(within[w].rows(), within[w].rows()) += within[w];
  }

  // Means, and the deviations from them, of those draws that know about a point. `share`: of their weights.
  Vector mean = means.transpose() * members.component_weights, share(n), widening(n);
  for (Index i = 0; i < n; ++i) {
    share[i] = impl_->MembersAt(query.level[i]).weight / members.weight;
    widening[i] = std::sqrt(impl_->InflationAt(query.level[i]));
  }
  mean = mean.cwiseQuotient(share);
  for (int k = 0; k < draws; ++k) {
    const size_t draw = members.draws[k];
    const Index first = query.first[impl_->draws[draw].structure];
    auto rows = means.middleRows(members.first_component[k], impl_->posteriors[draw].links());
    rows.rightCols(n - first).rowwise() -= mean.tail(n - first).transpose();
  }
  means = members.component_weights.cwiseSqrt().asDiagonal() * means;
  Multiply({.c = Part::kLower}, 1, means.transpose(), means, Write::kAdd, covariance);
  // Levels ascend, so that in the lower triangle the row's level is the higher one: all draws of that level count.
  covariance = (widening.cwiseQuotient(share)).asDiagonal() * covariance * widening.asDiagonal();
  covariance.triangularView<Eigen::StrictlyUpper>() = covariance.transpose();

  JointPosterior result{.mean = Vector(n), .covariance = Matrix(n, n)};
  result.mean(query.order) = mean;
  result.covariance(query.order, query.order) = covariance;
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
  Random choice(options.seed, kComponentStream);
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
    MomentJoint joint = query.Of(*impl_, draw);
    Vector mean;
    Matrix covariance, normals;
    for (int l = 0; l < posterior.links(); ++l) {
      const std::vector<int>& own = *(begin + l);
      if (own.empty()) continue;
      joint.Under(l, mean, covariance);
      impl_->ToUserUnits(draw, levels, options.include_noise, mean, covariance);
      statuses[k] = FactoriseCovariance(covariance, "covariance of sampled inputs");
      if (!statuses[k].ok()) return;
      normals.resize(covariance.cols(), static_cast<Index>(own.size()));
      for (size_t j = 0; j < own.size(); ++j) {
        Random random(options.seed, kPathStream, static_cast<uint32_t>(own[j]));
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
