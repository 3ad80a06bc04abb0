#include "core/dgp/mf_dgp.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/dgp/mf_dgp_fit.h"
#include "core/dgp/mf_dgp_impl.h"
#include "core/emulator/mixture.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr Index kBlock = 64;  // query points that one thread works on at a time

absl::Status CheckQuery(const Matrix& x, const PredictOptions& options, int levels, int dimension) {
  if (x.cols() != dimension) {
    return absl::InvalidArgumentError(
        absl::StrFormat("x: %d columns, but the model has input dimension %d", x.cols(), dimension));
  }
  if (options.level < -1 || options.level >= levels) {
    return absl::InvalidArgumentError(
        absl::StrFormat("level: %d, want 0 to %d, or -1 for the highest fidelity", options.level, levels - 1));
  }
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) {
      if (!std::isfinite(x(i, j))) {
        return absl::InvalidArgumentError(absl::StrFormat("x[%d,%d]: %g is not a finite number", i, j, x(i, j)));
      }
    }
  }
  for (size_t k = 0; k < options.quantiles.size(); ++k) {
    if (!(options.quantiles[k] > 0 && options.quantiles[k] < 1)) {
      return absl::InvalidArgumentError(
          absl::StrFormat("quantiles[%d]: %g, want a probability between 0 and 1", k, options.quantiles[k]));
    }
  }
  return absl::OkStatus();
}

}  // namespace

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
    residual += impl->draws[i].weight * impl->posteriors[i].leave_one_out(top);
  }
  impl->inflation = std::max(1.0, residual);
  const ScaledData& scaled = structures[0]->data;
  for (int t = 0; t <= top; ++t) {
    const auto noise = scaled.noise.segment(scaled.offset[t], scaled.count(t));
    impl->given_noise.push_back(noise.size() > 0 ? noise.mean() : 0);
  }
  impl->data = std::move(data);
  impl->structures = std::move(structures);
  impl->report = report;
  impl->report.draws = static_cast<int>(impl->draws.size());
  return impl;
}

namespace {

std::vector<MomentQueries> Queries(const std::vector<std::shared_ptr<const MomentModel>>& structures, const Matrix& x) {
  std::vector<MomentQueries> queries;
  for (const auto& structure : structures) queries.emplace_back(*structure, x);
  return queries;
}

// The mixture at query points (per structure), in the user's units.
Mixture PredictMixture(const std::vector<MomentDraw>& draws, const std::vector<MomentPosterior>& posteriors,
                       const Scaling& scaling, const std::vector<MomentQueries>& queries, int level, double inflation,
                       bool include_noise, double given_noise, MomentPosterior::Workspace& workspace) {
  const Index n = queries[0].x.rows();
  Index components = 0;
  for (const MomentPosterior& p : posteriors) components += p.links();
  Mixture mixture;
  mixture.weight.resize(components);
  mixture.mean.resize(components, n);
  mixture.variance.resize(components, n);
  Index at = 0;
  for (size_t i = 0; i < draws.size(); ++i) {
    const MomentPosterior& p = posteriors[i];
    auto variance = mixture.variance.middleRows(at, p.links());
    p.Predict(queries[draws[i].structure], level, workspace, mixture.mean.middleRows(at, p.links()), variance);
    if (include_noise) variance.array() += p.noise(level) + given_noise;
    mixture.weight.segment(at, p.links()) = draws[i].weight * p.link_weights();
    at += p.links();
  }
  if (inflation > 1) {  // about the mixture's mean, so that its whole variance grows by the factor
    const Vector mean = MixtureMean(mixture);
    mixture.mean = ((mixture.mean.rowwise() - mean.transpose()) * std::sqrt(inflation)).rowwise() + mean.transpose();
    mixture.variance *= inflation;
  }
  mixture.mean = (mixture.mean.array() * scaling.output_sd + scaling.output_mean).matrix();
  mixture.variance *= scaling.output_sd;
  mixture.variance *= scaling.output_sd;
  return mixture;
}

}  // namespace

absl::StatusOr<Prediction> MfDgp::Predict(const Matrix& x, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(x, options, levels(), input_dimension()));
  const int level = options.level < 0 ? levels() - 1 : options.level;
  const double inflation = level == levels() - 1 ? impl_->inflation : 1;
  const Scaling& scaling = impl_->structures[0]->data.scaling;
  Prediction result;
  result.mean.resize(x.rows());
  result.variance.resize(x.rows());
  result.quantiles.resize(x.rows(), static_cast<Index>(options.quantiles.size()));
  if (options.input_gradient) result.input_gradient.setZero(x.rows(), x.cols());
  const int blocks = static_cast<int>((x.rows() + kBlock - 1) / kBlock);
  ParallelFor(blocks, options.threads, [&](int b) {
    const Index begin = b * kBlock, n = std::min(kBlock, x.rows() - begin);
    const auto queries = Queries(impl_->structures, scaling.ScaleInputs(x.middleRows(begin, n)));
    MomentPosterior::Workspace workspace;
    const Mixture mixture = PredictMixture(impl_->draws, impl_->posteriors, scaling, queries, level, inflation,
                                           options.include_noise, impl_->given_noise[level], workspace);
    const Vector mean = MixtureMean(mixture);
    result.mean.segment(begin, n) = mean;
    result.variance.segment(begin, n) = MixtureVariance(mixture, mean);
    if (!options.quantiles.empty()) {
      result.quantiles.middleRows(begin, n) = MixtureQuantiles(mixture, options.quantiles);
    }
    if (options.input_gradient) {
      auto gradient = result.input_gradient.middleRows(begin, n);
      for (size_t i = 0; i < impl_->draws.size(); ++i) {
        const MomentDraw& draw = impl_->draws[i];
        gradient += draw.weight * impl_->posteriors[i].MeanGradient(queries[draw.structure], level, workspace);
      }
      gradient = (gradient * scaling.input_width.cwiseInverse().asDiagonal() * scaling.output_sd).eval();
    }
  });
  return result;
}

absl::StatusOr<Vector> MfDgp::LogDensity(const Matrix& x, const Vector& y, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(x, options, levels(), input_dimension()));
  if (y.size() != x.rows()) {
    return absl::InvalidArgumentError(absl::StrFormat("y: %d values, but x has %d rows", y.size(), x.rows()));
  }
  for (Index i = 0; i < y.size(); ++i) {
    if (!std::isfinite(y[i])) {
      return absl::InvalidArgumentError(absl::StrFormat("y[%d]: %g is not a finite number", i, y[i]));
    }
  }
  const int level = options.level < 0 ? levels() - 1 : options.level;
  const double inflation = level == levels() - 1 ? impl_->inflation : 1;
  const Scaling& scaling = impl_->structures[0]->data.scaling;
  Vector result(x.rows());
  const int blocks = static_cast<int>((x.rows() + kBlock - 1) / kBlock);
  ParallelFor(blocks, options.threads, [&](int b) {
    const Index begin = b * kBlock, n = std::min(kBlock, x.rows() - begin);
    const auto queries = Queries(impl_->structures, scaling.ScaleInputs(x.middleRows(begin, n)));
    MomentPosterior::Workspace workspace;
    const Mixture mixture = PredictMixture(impl_->draws, impl_->posteriors, scaling, queries, level, inflation,
                                           options.include_noise, impl_->given_noise[level], workspace);
    result.segment(begin, n) = MixtureLogDensity(mixture, y.segment(begin, n));
  });
  return result;
}

}  // namespace fidelio
