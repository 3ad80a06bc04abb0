#include "core/dgp/mf_dgp.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/dgp/mf_dgp_fit.h"
#include "core/dgp/mf_dgp_impl.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr Index kBlock = 64;  // query points that one thread works on at a time

absl::Status CheckQuantiles(const std::vector<double>& quantiles) {
  for (size_t k = 0; k < quantiles.size(); ++k) {
    if (!(quantiles[k] > 0 && quantiles[k] < 1)) {
      return absl::InvalidArgumentError(
          absl::StrFormat("quantiles[%d]: %g, want a probability between 0 and 1", k, quantiles[k]));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckQuery(const MfDgp& model, const Matrix& x, int level) {
  if (x.cols() != model.input_dimension()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("x: %d columns, but the model has input dimension %d", x.cols(), model.input_dimension()));
  }
  if (level < -1 || level >= model.levels()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("level: %d, want 0 to %d, or -1 for the highest fidelity", level, model.levels() - 1));
  }
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) {
      if (!std::isfinite(x(i, j))) {
        return absl::InvalidArgumentError(absl::StrFormat("x[%d,%d]: %g is not a finite number", i, j, x(i, j)));
      }
    }
  }
  return absl::OkStatus();
}

MfDgp::MfDgp(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
MfDgp::~MfDgp() = default;

int MfDgp::levels() const { return static_cast<int>(impl_->data.levels.size()); }
int MfDgp::input_dimension() const { return impl_->data.dimension(); }
const FitReport& MfDgp::report() const { return impl_->report; }
const Dataset& MfDgp::data() const { return impl_->data; }

absl::StatusOr<std::unique_ptr<MfDgp>> MfDgp::Fit(const Dataset& data, const FitOptions& options,
                                                  FitObserver* observer) {
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<MfDgpFit> fit, MfDgpFit::Create(data, options));
  return fit->Run(observer);
}

absl::StatusOr<std::unique_ptr<MfDgp::Impl>> MfDgp::Impl::Build(
    Dataset data, std::vector<std::shared_ptr<const MomentModel>> structures, std::vector<MomentDraw> draws,
    FitReport report, int threads) {
  const int count = static_cast<int>(draws.size());
  std::vector<absl::StatusOr<MomentPosterior>> built(draws.size(), absl::UnknownError("not built"));
  const int workers = std::min(count, ResolveThreads(threads));
  ParallelFor(workers, workers, [&](int w) {
    std::vector<std::unique_ptr<MomentRecursion>> recursions(structures.size());
    for (int i = w; i < count; i += workers) {
      auto& recursion = recursions[draws[i].structure];
      if (recursion == nullptr) recursion = std::make_unique<MomentRecursion>(structures[draws[i].structure]);
      built[i] = MomentPosterior::Build(*recursion, draws[i].theta);
    }
  });
  auto impl = std::make_unique<Impl>();
  double total = 0;
  for (int i = 0; i < count; ++i) {
    if (!built[i].ok()) continue;
    total += draws[i].weight;
    impl->draws.push_back(std::move(draws[i]));
    impl->posteriors.push_back(*std::move(built[i]));
  }
  if (impl->draws.empty()) return built.empty() ? absl::InternalError("a fit without draws") : built[0].status();
  const int top = static_cast<int>(data.levels.size()) - 1;
  double residual = 0;
  for (size_t i = 0; i < impl->draws.size(); ++i) {
    if (static_cast<int>(impl->draws.size()) < count) impl->draws[i].weight /= total;
    const int first_level = structures[impl->draws[i].structure]->recipe.first_level;
    residual += impl->draws[i].weight * impl->posteriors[i].leave_one_out(top - first_level);
  }
  impl->inflation = std::max(1.0, residual);
  for (const LevelData& level : data.levels) {
    impl->given_noise.push_back(level.noise_variance.size() > 0 ? level.noise_variance.mean() : 0);
  }
  impl->data = std::move(data);
  impl->structures = std::move(structures);
  impl->report = report;
  impl->report.draws = static_cast<int>(impl->draws.size());
  return impl;
}

MfDgp::Impl::Members MfDgp::Impl::MembersAt(int level) const {
  Members members;
  Index components = 0;
  for (size_t i = 0; i < draws.size(); ++i) {
    if (level < structures[draws[i].structure]->recipe.first_level) continue;
    members.draws.push_back(i);
    members.weight += draws[i].weight;
    members.first_component.push_back(components);
    components += posteriors[i].links();
  }
  members.component_weights.resize(components);
  for (size_t k = 0; k < members.draws.size(); ++k) {
    const MomentPosterior& p = posteriors[members.draws[k]];
    members.component_weights.segment(members.first_component[k], p.links()) =
        draws[members.draws[k]].weight / members.weight * p.link_weights();
  }
  return members;
}

std::vector<MomentQueries> MfDgp::Impl::Queries(const Matrix& x) const {
  std::vector<MomentQueries> queries;
  queries.reserve(structures.size());
  for (const auto& structure : structures) queries.emplace_back(*structure, x);
  return queries;
}

Mixture MfDgp::Impl::PredictMixture(const std::vector<MomentQueries>& queries, int level, bool include_noise,
                                    MomentPosterior::Workspace& workspace) const {
  const Members members = MembersAt(level);
  const Index n = queries[0].x.rows();
  Mixture mixture;
  mixture.weight = members.component_weights;
  mixture.mean.resize(mixture.weight.size(), n);
  mixture.variance.resize(mixture.weight.size(), n);
  for (size_t k = 0; k < members.draws.size(); ++k) {
    const size_t i = members.draws[k];
    const Index at = members.first_component[k];
    const MomentPosterior& p = posteriors[i];
    const MomentModel& structure = *structures[draws[i].structure];
    const Scaling& scaling = structure.data.scaling;
    const int own_level = level - structure.recipe.first_level;
    auto mean = mixture.mean.middleRows(at, p.links());
    auto variance = mixture.variance.middleRows(at, p.links());
    p.Predict(queries[draws[i].structure], own_level, workspace, mean, variance);
    if (include_noise) variance.array() += p.noise(own_level);
    mean = (mean.array() * scaling.output_sd + scaling.output_mean).matrix();
    variance *= scaling.output_sd;
    variance *= scaling.output_sd;
  }
  if (include_noise) mixture.variance.array() += given_noise[level];
  if (const double factor = InflationAt(level); factor > 1) {
    // About the mixture's mean, so that its whole variance grows by the factor.
    const Vector mean = MixtureMean(mixture);
    mixture.mean = ((mixture.mean.rowwise() - mean.transpose()) * std::sqrt(factor)).rowwise() + mean.transpose();
    mixture.variance *= factor;
  }
  return mixture;
}

Matrix MfDgp::Impl::MeanGradient(const std::vector<MomentQueries>& queries, int level,
                                 MomentPosterior::Workspace& workspace) const {
  const Members members = MembersAt(level);
  Matrix gradient = Matrix::Zero(queries[0].x.rows(), queries[0].x.cols());
  for (const size_t i : members.draws) {
    const MomentModel& structure = *structures[draws[i].structure];
    gradient +=
        draws[i].weight / members.weight * structure.data.scaling.output_sd *
        posteriors[i].MeanGradient(queries[draws[i].structure], level - structure.recipe.first_level, workspace);
  }
  return gradient * structures[0]->data.scaling.input_width.cwiseInverse().asDiagonal();
}

absl::StatusOr<Prediction> MfDgp::Predict(const Matrix& x, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  FIDELIO_RETURN_IF_ERROR(CheckQuantiles(options.quantiles));
  const int level = options.level < 0 ? levels() - 1 : options.level;
  const Scaling& scaling = impl_->structures[0]->data.scaling;
  Prediction result;
  result.mean.resize(x.rows());
  result.variance.resize(x.rows());
  result.quantiles.resize(x.rows(), static_cast<Index>(options.quantiles.size()));
  if (options.input_gradient) result.input_gradient.setZero(x.rows(), x.cols());
  const int blocks = static_cast<int>((x.rows() + kBlock - 1) / kBlock);
  ParallelFor(blocks, options.threads, [&](int b) {
    const Index begin = b * kBlock, n = std::min(kBlock, x.rows() - begin);
    const std::vector<MomentQueries> queries = impl_->Queries(scaling.ScaleInputs(x.middleRows(begin, n)));
    MomentPosterior::Workspace workspace;
    const Mixture mixture = impl_->PredictMixture(queries, level, options.include_noise, workspace);
    const Vector mean = MixtureMean(mixture);
    result.mean.segment(begin, n) = mean;
    result.variance.segment(begin, n) = MixtureVariance(mixture, mean);
    if (!options.quantiles.empty()) {
      result.quantiles.middleRows(begin, n) = MixtureQuantiles(mixture, options.quantiles);
    }
    if (options.input_gradient) {
      result.input_gradient.middleRows(begin, n) = impl_->MeanGradient(queries, level, workspace);
    }
  });
  return result;
}

absl::StatusOr<Vector> MfDgp::LogDensity(const Matrix& x, const Vector& y, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  if (y.size() != x.rows()) {
    return absl::InvalidArgumentError(absl::StrFormat("y: %d values, but x has %d rows", y.size(), x.rows()));
  }
  for (Index i = 0; i < y.size(); ++i) {
    if (!std::isfinite(y[i])) {
      return absl::InvalidArgumentError(absl::StrFormat("y[%d]: %g is not a finite number", i, y[i]));
    }
  }
  const int level = options.level < 0 ? levels() - 1 : options.level;
  const Scaling& scaling = impl_->structures[0]->data.scaling;
  Vector result(x.rows());
  const int blocks = static_cast<int>((x.rows() + kBlock - 1) / kBlock);
  ParallelFor(blocks, options.threads, [&](int b) {
    const Index begin = b * kBlock, n = std::min(kBlock, x.rows() - begin);
    const std::vector<MomentQueries> queries = impl_->Queries(scaling.ScaleInputs(x.middleRows(begin, n)));
    MomentPosterior::Workspace workspace;
    const Mixture mixture = impl_->PredictMixture(queries, level, options.include_noise, workspace);
    result.segment(begin, n) = MixtureLogDensity(mixture, y.segment(begin, n));
  });
  return result;
}

}  // namespace fidelio
