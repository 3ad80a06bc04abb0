#include "core/neighbour/neighbour_dgp.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/emulator/inflation.h"
#include "core/emulator/query_check.h"
#include "core/emulator/reweigh.h"
#include "core/neighbour/neighbour_dgp_impl.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr Index kQueryBlock = 64;  // query points that one thread works on at a time

}  // namespace

NeighbourDgp::NeighbourDgp(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
NeighbourDgp::~NeighbourDgp() = default;

int NeighbourDgp::levels() const { return impl_->levels(); }
int NeighbourDgp::input_dimension() const { return impl_->data.dimension(); }
const FitReport& NeighbourDgp::report() const { return impl_->report; }
const Dataset& NeighbourDgp::data() const { return impl_->data; }

int64_t NeighbourDgp::MemoryBytes() const {
  int64_t bytes = 64 << 10;
  for (int t = 0; t < impl_->levels(); ++t) {
    const int64_t count = impl_->data.levels[t].y.size();
    bytes += NeighbourStack::MemoryBytes(count, t < impl_->stacked() ? t : impl_->stacked(), input_dimension(),
                                         impl_->stack->neighbours(), impl_->stack->centres());
    bytes += 8 * count * (input_dimension() + 2);
  }
  if (impl_->upper == nullptr) return bytes;
  const int64_t n = impl_->upper->data().y.size();
  for (const MomentPosterior& posterior : impl_->posteriors) bytes += 8 * posterior.links() * n * n;
  return bytes + 8 * n * n * static_cast<int64_t>(1 + impl_->structures.size());
}

std::unique_ptr<const NeighbourStack> NeighbourDgp::Impl::BuildStack(const Dataset& data, const Scaling& scaling,
                                                                     int neighbours, int centres,
                                                                     const std::vector<NeighbourLayer>& layers,
                                                                     int threads) {
  auto stack = std::make_unique<NeighbourStack>(neighbours, centres);
  for (size_t t = 0; t < layers.size(); ++t) {
    stack->AddData(ScaledLevel(data.levels[t], scaling), threads);
    stack->Complete(layers[t].kernel, layers[t].theta, threads);
  }
  return stack;
}

absl::StatusOr<std::unique_ptr<NeighbourDgp::Impl>> NeighbourDgp::Impl::Build(
    Dataset data, const Scaling& scaling, std::unique_ptr<const NeighbourStack> stack,
    const std::vector<Recipe>& recipes, std::vector<MomentDraw> draws, const FitReport& report, int threads,
    const Impl* before) {
  auto impl = std::make_unique<Impl>();
  impl->data = std::move(data);
  impl->report = report;
  impl->scaling = scaling;
  impl->stack = std::move(stack);
  for (const LevelData& level : impl->data.levels) {
    impl->given_noise.push_back(level.noise_variance.size() > 0 ? level.noise_variance.mean() : 0);
  }
  if (impl->levels() == impl->stacked()) {
    impl->report.draws = 1;
    return impl;
  }
  impl->upper = std::make_unique<const UpperPoints>(*impl->stack, impl->data, scaling, threads);
  for (const Recipe& recipe : recipes) impl->structures.push_back(impl->upper->Model(recipe));
  const int count = static_cast<int>(draws.size());
  std::vector<absl::StatusOr<MomentPosterior>> built(draws.size(), absl::UnknownError("not built"));
  ParallelFor(count, threads, [&](int i) {
    MomentRecursion recursion(impl->structures[draws[i].structure]);
    built[i] = MomentPosterior::Build(recursion, draws[i].theta);
  });
  Vector weights(count), log_factors = Vector::Zero(count);
  for (int i = 0; i < count; ++i) {
    weights[i] = built[i].ok() ? draws[i].weight : 0;
    if (built[i].ok() && before != nullptr) {
      log_factors[i] = built[i]->log_likelihood() - before->posteriors[i].log_likelihood();
    }
  }
  if (!(weights.sum() > 0)) return built.empty() ? absl::InternalError("a fit without draws") : built[0].status();
  if (before != nullptr) {
    weights = Reweigh(weights, log_factors);
  } else if (weights.minCoeff() == 0) {  // otherwise they sum to 1, and a model that is loaded must keep their bits
    weights /= weights.sum();
  }
  for (int i = 0; i < count; ++i) {
    if (!built[i].ok()) continue;
    draws[i].weight = weights[i];
    impl->draws.push_back(std::move(draws[i]));
    impl->posteriors.push_back(*std::move(built[i]));
  }
  impl->report.draws = static_cast<int>(impl->draws.size());
  return impl;
}

void NeighbourDgp::Impl::Inflate(const Inflation& by) {
  inflation = by;
  given_noise.back() /= by.NoiseDivisor();
}

std::vector<NeighbourLayer> NeighbourDgp::Impl::layers() const {
  std::vector<NeighbourLayer> layers;
  for (int t = 0; t < stacked(); ++t) layers.push_back({stack->kernel(t), stack->theta(t)});
  return layers;
}

std::vector<Recipe> NeighbourDgp::Impl::recipes() const {
  std::vector<Recipe> recipes;
  for (const auto& structure : structures) recipes.push_back(structure->recipe);
  return recipes;
}

double NeighbourDgp::Impl::NoiseAt(int level, size_t draw) const {
  const double learned = level < stacked() ? stack->noise(level) : posteriors[draw].noise(OwnLevel(level));
  return learned * scaling.output_sd * scaling.output_sd + given_noise[level];
}

Vector NeighbourDgp::Impl::Weights(int level) const {
  if (!IsUpper(level)) return Vector::Ones(1);
  std::vector<double> weights;
  for (size_t i = 0; i < draws.size(); ++i) {
    for (const double w : posteriors[i].link_weights()) weights.push_back(draws[i].weight * w);
  }
  return Eigen::Map<const Vector>(weights.data(), static_cast<Index>(weights.size()));
}

NeighbourDgp::Impl::Queries NeighbourDgp::Impl::Query(const Matrix& x, int level, int threads) const {
  const int n = static_cast<int>(x.rows()), reached = std::min(level, stacked() - 1);
  Queries queries;
  queries.x = scaling.ScaleInputs(x);
  queries.columns = queries.x.transpose();
  queries.stencils.resize(n);
  queries.sites.resize(n);
  QueryMoments first;
  if (IsUpper(level)) {
    first.cross = Matrix::Zero(upper->data().y.size(), n);
    first.mean.resize(n);
    first.variance.resize(n);
    queries.near.resize(n);
  }
  ParallelFor(n, threads, [&](int i) {
    const double* const at = queries.columns.col(i).data();
    queries.stencils[i] = stack->Reach(at, reached);
    queries.sites[i] = {at, queries.stencils[i].data()};
    if (!IsUpper(level)) return;
    const Stencil& stencil = queries.stencils[i][reached];
    first.mean[i] = stencil.mean;
    first.variance[i] = stencil.variance;
    queries.near[i] = upper->Near(stencil);
    std::vector<Site> others;
    for (const int j : queries.near[i]) others.push_back(upper->sites()[j]);
    if (stencil.spread.size() > 0) first.cross.col(i).noalias() = upper->spreads().transpose() * stencil.spread;
    const Matrix row = stack->Covariance(reached, {&queries.sites[i], 1}, others);
    for (size_t k = 0; k < others.size(); ++k) first.cross(queries.near[i][k], i) = row(0, static_cast<Index>(k));
  });
  if (!IsUpper(level)) return queries;
  for (const auto& structure : structures) {
    queries.seen.emplace_back(*structure, queries.x, first);
  }
  return queries;
}

Mixture NeighbourDgp::Impl::PredictMixture(const Queries& queries, int level, bool include_noise,
                                           MomentPosterior::Workspace& workspace) const {
  const Index n = queries.x.rows();
  const double variance_unit = scaling.output_sd * scaling.output_sd;
  Mixture mixture;
  mixture.weight = Weights(level);
  mixture.mean.resize(mixture.weight.size(), n);
  mixture.variance.resize(mixture.weight.size(), n);
  if (IsUpper(level)) {
    for (size_t i = 0, at = 0; i < draws.size(); at += posteriors[i].links(), ++i) {
      auto mean = mixture.mean.middleRows(static_cast<Index>(at), posteriors[i].links());
      auto variance = mixture.variance.middleRows(static_cast<Index>(at), posteriors[i].links());
      posteriors[i].Predict(queries.seen[draws[i].structure], OwnLevel(level), workspace, mean, variance);
      variance *= variance_unit;
      if (include_noise) variance.array() += NoiseAt(level, i);
    }
  } else {
    for (Index i = 0; i < n; ++i) {
      mixture.mean(0, i) = queries.stencils[i][level].mean;
      mixture.variance(0, i) =
          queries.stencils[i][level].variance * variance_unit + (include_noise ? NoiseAt(level, 0) : 0);
    }
  }
  mixture.mean = mixture.mean.array() * scaling.output_sd + scaling.output_mean;
  fidelio::Inflate(InflationAt(level), mixture);
  return mixture;
}

Matrix NeighbourDgp::Impl::Gradient(const Queries& queries, int level, Matrix mean_bar, Matrix variance_bar,
                                    MomentPosterior::Workspace& workspace) const {
  const Index n = queries.x.rows();
  InflateAdjoints(InflationAt(level), Weights(level), mean_bar, variance_bar);
  mean_bar *= scaling.output_sd;
  variance_bar *= scaling.output_sd * scaling.output_sd;
  Matrix gradient = Matrix::Zero(n, queries.x.cols());
  std::vector<MomentAdjoints> bars(n);
  for (Index i = 0; i < n; ++i) {
    if (IsUpper(level)) {
      for (const int j : queries.near[i]) bars[i].others.push_back(upper->sites()[j]);
      bars[i].covariance.setZero(static_cast<Index>(queries.near[i].size()));
      bars[i].spread.setZero(upper->spreads().rows());
    } else {
      bars[i].mean = mean_bar(0, i);
      bars[i].variance = variance_bar(0, i);
    }
  }
  for (size_t k = 0, at = 0; IsUpper(level) && k < draws.size(); at += posteriors[k].links(), ++k) {
    const Index first = static_cast<Index>(at), links = posteriors[k].links();
    const MomentPosterior::Adjoints adjoints =
        posteriors[k].Reverse(queries.seen[draws[k].structure], OwnLevel(level), mean_bar.middleRows(first, links),
                              variance_bar.middleRows(first, links), workspace);
    gradient += adjoints.x;
    for (Index i = 0; i < n; ++i) {
      bars[i].mean += adjoints.given.mean[i];
      bars[i].variance += adjoints.given.variance[i];
      bars[i].covariance += adjoints.given.cross.col(i)(queries.near[i]);
      bars[i].spread.noalias() += upper->spreads() * adjoints.given.cross.col(i);
    }
  }
  const int reached = std::min(level, stacked() - 1);
  for (Index i = 0; i < n; ++i) gradient.row(i) += stack->Gradient(reached, queries.sites[i], bars[i]).transpose();
  return gradient * scaling.input_width.cwiseInverse().asDiagonal();
}

void NeighbourDgp::Impl::ForBlocks(const Matrix& x, int level, int threads, const BlockBody& body) const {
  const int blocks = static_cast<int>((x.rows() + kQueryBlock - 1) / kQueryBlock);
  ParallelFor(blocks, threads, [&](int b) {
    const Index begin = b * kQueryBlock, n = std::min(kQueryBlock, x.rows() - begin);
    MomentPosterior::Workspace workspace;
    body(begin, Query(x.middleRows(begin, n), level, 1), workspace);
  });
}

absl::StatusOr<Prediction> NeighbourDgp::Predict(const Matrix& x, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  FIDELIO_RETURN_IF_ERROR(CheckQuantiles(options.quantiles));
  const int level = options.level < 0 ? levels() - 1 : options.level;
  Prediction result;
  result.mean.resize(x.rows());
  result.variance.resize(x.rows());
  result.median.resize(x.rows());
  result.mean_cdf.resize(x.rows());
  result.quantiles.resize(x.rows(), static_cast<Index>(options.quantiles.size()));
  if (options.input_gradient) result.input_gradient.setZero(x.rows(), x.cols());
  impl_->ForBlocks(x, level, options.threads, [&](Index begin, const Impl::Queries& queries, auto& workspace) {
    const Index n = queries.x.rows();
    const Mixture mixture = impl_->PredictMixture(queries, level, options.include_noise, workspace);
    const Vector mean = MixtureMean(mixture);
    result.mean.segment(begin, n) = mean;
    result.variance.segment(begin, n) = MixtureVariance(mixture, mean);
    SetMedians(mixture, mean, begin, result);
    if (!options.quantiles.empty()) {
      result.quantiles.middleRows(begin, n) = MixtureQuantiles(mixture, options.quantiles);
    }
    if (options.input_gradient) {
      result.input_gradient.middleRows(begin, n) = impl_->Gradient(queries, level, mixture.weight.replicate(1, n),
                                                                   Matrix::Zero(mixture.weight.size(), n), workspace);
    }
  });
  return result;
}

absl::StatusOr<Mixture> NeighbourDgp::PredictMixture(const Matrix& x, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  const int level = options.level < 0 ? levels() - 1 : options.level;
  Mixture result;
  result.weight = impl_->Weights(level);
  result.mean.resize(result.weight.size(), x.rows());
  result.variance.resize(result.weight.size(), x.rows());
  impl_->ForBlocks(x, level, options.threads, [&](Index begin, const Impl::Queries& queries, auto& workspace) {
    const Mixture mixture = impl_->PredictMixture(queries, level, options.include_noise, workspace);
    result.mean.middleCols(begin, queries.x.rows()) = mixture.mean;
    result.variance.middleCols(begin, queries.x.rows()) = mixture.variance;
  });
  return result;
}

absl::StatusOr<Matrix> NeighbourDgp::MixtureGradient(const Matrix& x, const Matrix& mean_bar,
                                                     const Matrix& variance_bar, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  const int level = options.level < 0 ? levels() - 1 : options.level;
  FIDELIO_RETURN_IF_ERROR(CheckMixtureGradient(x, impl_->Weights(level).size(), mean_bar, variance_bar));
  Matrix gradient(x.rows(), x.cols());
  impl_->ForBlocks(x, level, options.threads, [&](Index begin, const Impl::Queries& queries, auto& workspace) {
    const Index n = queries.x.rows();
    gradient.middleRows(begin, n) =
        impl_->Gradient(queries, level, mean_bar.middleCols(begin, n), variance_bar.middleCols(begin, n), workspace);
  });
  return gradient;
}

absl::StatusOr<Vector> NeighbourDgp::LogDensity(const Matrix& x, const Vector& y, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  FIDELIO_RETURN_IF_ERROR(CheckOutputs(x, y));
  const int level = options.level < 0 ? levels() - 1 : options.level;
  Vector result(x.rows());
  impl_->ForBlocks(x, level, options.threads, [&](Index begin, const Impl::Queries& queries, auto& workspace) {
    const Index n = queries.x.rows();
    const Mixture mixture = impl_->PredictMixture(queries, level, options.include_noise, workspace);
    result.segment(begin, n) = MixtureLogDensity(mixture, y.segment(begin, n));
  });
  return result;
}

absl::StatusOr<std::unique_ptr<NeighbourDgp>> NeighbourDgp::WithNeighbours(int neighbours, int threads) const {
  if (neighbours < 1) {
    return absl::InvalidArgumentError(absl::StrFormat("neighbours: %d, want at least 1", neighbours));
  }
  auto stack =
      Impl::BuildStack(impl_->data, impl_->scaling, neighbours, impl_->stack->centres(), impl_->layers(), threads);
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<Impl> impl,
                           Impl::Build(impl_->data, impl_->scaling, std::move(stack), impl_->recipes(), impl_->draws,
                                       impl_->report, threads));
  impl->Inflate(InflationOf(impl->LeftOutAtTop()));
  return std::unique_ptr<NeighbourDgp>(new NeighbourDgp(std::move(impl)));
}

absl::StatusOr<std::unique_ptr<Emulator>> NeighbourDgp::Condition(const Dataset& data, int threads) const {
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  if (levels() != static_cast<int>(data.levels.size()) || input_dimension() != data.dimension()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("data: %d levels and input dimension %d, but the model has %d levels and dimension %d",
                        data.levels.size(), data.dimension(), levels(), input_dimension()));
  }
  for (int t = 0; t < levels(); ++t) {
    const bool learned = impl_->data.levels[t].noise_variance.size() == 0;
    if (learned == (data.levels[t].noise_variance.size() == 0)) continue;
    return absl::FailedPreconditionError(
        absl::StrFormat("level %d: its noise variance was %s by the fit and is %s now; fit again", t,
                        learned ? "learned" : "given", learned ? "given" : "to be learned"));
  }
  auto stack = Impl::BuildStack(data, impl_->scaling, impl_->stack->neighbours(), impl_->stack->centres(),
                                impl_->layers(), threads);
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<Impl> impl,
                           Impl::Build(data, impl_->scaling, std::move(stack), impl_->recipes(), impl_->draws,
                                       impl_->report, threads, impl_.get()));
  impl->Inflate(InflationOf(impl->LeftOutAtTop()));
  return std::unique_ptr<Emulator>(new NeighbourDgp(std::move(impl)));
}

}  // namespace fidelio
