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

absl::Status CheckJointQuery(const MfDgp& model, const Matrix& x, int level) {
  if (x.rows() > kMostJointInputs) {
    return absl::InvalidArgumentError(
        absl::StrFormat("x: %d rows, want at most %d for a joint posterior", x.rows(), kMostJointInputs));
  }
  return CheckQuery(model, x, level);
}

}  // namespace

void MfDgp::Impl::ToUserUnits(size_t draw, int level, bool include_noise, Vector& mean, Matrix& covariance) const {
  const MomentModel& structure = *structures[draws[draw].structure];
  const Scaling& scaling = structure.data.scaling;
  if (include_noise) covariance.diagonal().array() += posteriors[draw].noise(level - structure.recipe.first_level);
  mean = (mean.array() * scaling.output_sd + scaling.output_mean).matrix();
  covariance *= scaling.output_sd;
  covariance *= scaling.output_sd;
  if (include_noise) covariance.diagonal().array() += given_noise[level];
}

absl::StatusOr<JointPosterior> MfDgp::JointMoments(const Matrix& x, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckJointQuery(*this, x, options.level));
  const int level = options.level < 0 ? levels() - 1 : options.level;
  const Index n = x.rows();
  const Impl::Members members = impl_->MembersAt(level);
  const std::vector<MomentQueries> queries = impl_->Queries(impl_->structures[0]->data.scaling.ScaleInputs(x));
  const int draws = static_cast<int>(members.draws.size()), workers = std::min(draws, ResolveThreads(options.threads));
  Matrix means(members.component_weights.size(), n);
  JointPosterior result{.mean = Vector(n), .covariance = Matrix::Zero(n, n)};
  // As many draws at a time as there are threads, added up in their order: the sum does not depend on the threads.
  std::vector<Matrix> within(workers);
  for (int begin = 0; begin < draws; begin += workers) {
    const int now = std::min(workers, draws - begin);
    ParallelFor(now, workers, [&](int w) {
      const size_t draw = members.draws[begin + w];
      const MomentModel& structure = *impl_->structures[impl_->draws[draw].structure];
      MomentJoint joint(impl_->posteriors[draw], queries[impl_->draws[draw].structure],
                        level - structure.recipe.first_level);
      within[w].setZero(n, n);
      Vector mean;
      Matrix covariance;
      for (int l = 0; l < impl_->posteriors[draw].links(); ++l) {
        const Index component = members.first_component[begin + w] + l;
        joint.Under(l, mean, covariance);
        impl_->ToUserUnits(draw, level, options.include_noise, mean, covariance);
        means.row(component) = mean;
        within[w] += members.component_weights[component] * covariance;
      }
    });
    for (int w = 0; w < now; ++w) result.covariance += within[w];
  }
  result.mean = means.transpose() * members.component_weights;
  means.rowwise() -= result.mean.transpose();
  means = members.component_weights.cwiseSqrt().asDiagonal() * means;
  Multiply({.c = Part::kLower}, 1, means.transpose(), means, Write::kAdd, result.covariance);
  result.covariance *= impl_->InflationAt(level);
  result.covariance.triangularView<Eigen::StrictlyUpper>() = result.covariance.transpose();
  return result;
}

absl::StatusOr<Matrix> MfDgp::SamplePaths(const Matrix& x, const SampleOptions& options) const {
  if (options.count < 1) {
    return absl::InvalidArgumentError(absl::StrFormat("count: %d, want at least 1", options.count));
  }
  FIDELIO_RETURN_IF_ERROR(CheckJointQuery(*this, x, options.level));
  const int level = options.level < 0 ? levels() - 1 : options.level;
  const Impl::Members members = impl_->MembersAt(level);
  const std::vector<MomentQueries> queries = impl_->Queries(impl_->structures[0]->data.scaling.ScaleInputs(x));

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
    const MomentModel& structure = *impl_->structures[impl_->draws[draw].structure];
    MomentJoint joint(posterior, queries[impl_->draws[draw].structure], level - structure.recipe.first_level);
    Vector mean;
    Matrix covariance, normals;
    for (int l = 0; l < posterior.links(); ++l) {
      const std::vector<int>& own = *(begin + l);
      if (own.empty()) continue;
      joint.Under(l, mean, covariance);
      impl_->ToUserUnits(draw, level, options.include_noise, mean, covariance);
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
