#include "core/baseline/baseline_emulator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/equal_rows.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/random_streams.h"
#include "core/base/status_macros.h"
#include "core/baseline/baseline_fit.h"
#include "core/baseline/baseline_impl.h"
#include "core/emulator/inflation.h"
#include "core/emulator/query_check.h"
#include "core/emulator/reweigh.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr Index kBlock = 64;  // query points that one thread works on at a time

// The moments of each column of a mixture.
Mixture AsMixture(const Vector& weight, ScaledPosterior::Gaussians gaussians) {
  return {.weight = weight, .mean = std::move(gaussians.mean), .variance = std::move(gaussians.variance)};
}

}  // namespace

BaselineEmulator::BaselineEmulator(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
BaselineEmulator::~BaselineEmulator() = default;

BaselineMethod BaselineEmulator::method() const { return impl_->method; }
int BaselineEmulator::levels() const { return impl_->levels(); }
int BaselineEmulator::input_dimension() const { return impl_->data.dimension(); }
const FitReport& BaselineEmulator::report() const { return impl_->report; }
const Dataset& BaselineEmulator::data() const { return impl_->data; }

int64_t BaselineEmulator::MemoryBytes() const {
  int64_t points = 0;
  for (const LevelData& level : impl_->data.levels) points += level.y.size();
  constexpr int64_t kOther = 16 << 10;
  return impl_->posterior->MemoryBytes() + 8 * points * 6 * (input_dimension() + 4) + kOther;
}

absl::StatusOr<std::unique_ptr<BaselineEmulator>> BaselineEmulator::Fit(BaselineMethod method, const Dataset& data,
                                                                        const FitOptions& options,
                                                                        FitObserver* observer) {
  FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<BaselineFit> fit, BaselineFit::Create(method, data, options));
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<MixtureEmulator> model, fit->Run(observer));
  return std::unique_ptr<BaselineEmulator>(static_cast<BaselineEmulator*>(model.release()));  // which BaselineFit makes
}

absl::StatusOr<std::unique_ptr<BaselineEmulator::Impl>> BaselineEmulator::Impl::Build(
    Dataset data, const BaselineModel& model, std::vector<StageParameters> stages, FitReport report) {
  auto impl = std::make_unique<Impl>();
  FIDELIO_ASSIGN_OR_RETURN(impl->posterior, model.Posterior(stages));
  impl->method = model.method();
  impl->scaling = model.data().scaling;
  impl->learn_noise = model.data().learn_noise;
  impl->stages = std::move(stages);
  impl->report = report;
  impl->report.draws = 0;
  for (const StageParameters& stage : impl->stages) {
    impl->report.draws = std::max(impl->report.draws, static_cast<int>(stage.draws.size()));
  }
  impl->report.max_jitter = impl->posterior->max_jitter();
  const double sd = impl->scaling.output_sd;
  const int top = static_cast<int>(data.levels.size()) - 1;
  for (int t = 0; t <= top; ++t) {
    const Vector& given = data.levels[t].noise_variance;
    impl->given_noise.push_back(given.size() > 0 ? given.mean() : 0);
    impl->noises.emplace_back(impl->posterior->Noise(t).array() * sd * sd + impl->given_noise.back());
    impl->noise.push_back(impl->posterior->Weights(t).dot(impl->noises.back()));
  }
  impl->data = std::move(data);
  return impl;
}

ObservedMixtures BaselineEmulator::Impl::LeftOut(int level) const {
  ScaledPosterior::LeftOut own = posterior->LeaveOneOut(level);
  const double sd = scaling.output_sd;
  return {.y = data.levels[level].y,
          .weight = std::move(own.weight),
          .mean = own.mean.array() * sd + scaling.output_mean,
          .variance = own.variance * sd * sd,
          .group = FindEqualRows(data.levels[level].x).group};
}

void BaselineEmulator::Impl::Inflate(const Inflation& by) {
  inflation = by;
  const double less = given_noise.back() - given_noise.back() / by.NoiseDivisor();
  noises.back().array() -= less;
  noise.back() -= less;
}

Mixture BaselineEmulator::Impl::PredictMixture(const Matrix& x, int level, bool include_noise) const {
  Mixture mixture = AsMixture(posterior->Weights(level), posterior->Predict(scaling.ScaleInputs(x), level));
  mixture.mean = mixture.mean.array() * scaling.output_sd + scaling.output_mean;
  mixture.variance *= scaling.output_sd;
  mixture.variance *= scaling.output_sd;
  if (include_noise) mixture.variance.colwise() += noises[level];
  fidelio::Inflate(InflationAt(level), mixture);
  return mixture;
}

Matrix BaselineEmulator::Impl::Gradient(const Matrix& x, int level, Matrix mean_bar, Matrix variance_bar) const {
  InflateAdjoints(InflationAt(level), posterior->Weights(level), mean_bar, variance_bar);
  const double sd = scaling.output_sd;
  return posterior->Gradient(scaling.ScaleInputs(x), level, sd * mean_bar, sd * (sd * variance_bar)) *
         scaling.input_width.cwiseInverse().asDiagonal();
}

void BaselineEmulator::Impl::ForBlocks(Index rows, int threads, const std::function<void(Index, Index)>& body) {
  ParallelFor(static_cast<int>((rows + kBlock - 1) / kBlock), threads,
              [&](int b) { body(b * kBlock, std::min(kBlock, rows - b * kBlock)); });
}

absl::StatusOr<Prediction> BaselineEmulator::Predict(const Matrix& x, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  FIDELIO_RETURN_IF_ERROR(CheckQuantiles(options.quantiles));
  const int level = impl_->LevelOf(options.level);
  Prediction result;
  result.mean.resize(x.rows());
  result.variance.resize(x.rows());
  result.median.resize(x.rows());
  result.mean_cdf.resize(x.rows());
  result.quantiles.resize(x.rows(), static_cast<Index>(options.quantiles.size()));
  if (options.input_gradient) result.input_gradient.setZero(x.rows(), x.cols());
  Impl::ForBlocks(x.rows(), options.threads, [&](Index begin, Index n) {
    const Matrix rows = x.middleRows(begin, n);
    const Mixture mixture = impl_->PredictMixture(rows, level, options.include_noise);
    const Vector mean = MixtureMean(mixture);
    result.mean.segment(begin, n) = mean;
    result.variance.segment(begin, n) = MixtureVariance(mixture, mean);
    SetMedians(mixture, mean, begin, result);
    if (!options.quantiles.empty()) {
      result.quantiles.middleRows(begin, n) = MixtureQuantiles(mixture, options.quantiles);
    }
    if (options.input_gradient) {
      result.input_gradient.middleRows(begin, n) =
          impl_->Gradient(rows, level, mixture.weight.replicate(1, n), Matrix::Zero(mixture.weight.size(), n));
    }
  });
  return result;
}

absl::StatusOr<Vector> BaselineEmulator::LogDensity(const Matrix& x, const Vector& y,
                                                    const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  FIDELIO_RETURN_IF_ERROR(CheckOutputs(x, y));
  Vector result(x.rows());
  Impl::ForBlocks(x.rows(), options.threads, [&](Index begin, Index n) {
    result.segment(begin, n) = MixtureLogDensity(
        impl_->PredictMixture(x.middleRows(begin, n), impl_->LevelOf(options.level), options.include_noise),
        y.segment(begin, n));
  });
  return result;
}

absl::StatusOr<Mixture> BaselineEmulator::PredictMixture(const Matrix& x, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  const int level = impl_->LevelOf(options.level);
  Mixture result;
  result.weight = impl_->posterior->Weights(level);
  result.mean.resize(result.weight.size(), x.rows());
  result.variance.resize(result.weight.size(), x.rows());
  Impl::ForBlocks(x.rows(), options.threads, [&](Index begin, Index n) {
    const Mixture mixture = impl_->PredictMixture(x.middleRows(begin, n), level, options.include_noise);
    result.mean.middleCols(begin, n) = mixture.mean;
    result.variance.middleCols(begin, n) = mixture.variance;
  });
  return result;
}

absl::StatusOr<Matrix> BaselineEmulator::MixtureGradient(const Matrix& x, const Matrix& mean_bar,
                                                         const Matrix& variance_bar,
                                                         const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  const int level = impl_->LevelOf(options.level);
  const Index components = impl_->posterior->Weights(level).size();
  FIDELIO_RETURN_IF_ERROR(CheckMixtureGradient(x, components, mean_bar, variance_bar));
  Matrix result(x.rows(), x.cols());
  Impl::ForBlocks(x.rows(), options.threads, [&](Index begin, Index n) {
    result.middleRows(begin, n) = impl_->Gradient(x.middleRows(begin, n), level, mean_bar.middleCols(begin, n),
                                                  variance_bar.middleCols(begin, n));
  });
  return result;
}

absl::StatusOr<JointPosterior> BaselineEmulator::JointMomentsAt(const Matrix& x, const std::vector<int>& levels,
                                                                const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckJointQuery(*this, x, levels));
  FIDELIO_ASSIGN_OR_RETURN(ScaledPosterior::JointGaussian joint,
                           impl_->posterior->Joint(impl_->scaling.ScaleInputs(x), levels, options.check));
  const double sd = impl_->scaling.output_sd;
  joint.covariance *= sd;
  joint.covariance *= sd;
  Vector widening(x.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    if (options.include_noise) joint.covariance(i, i) += impl_->noise[levels[i]];
    widening[i] = std::sqrt(impl_->InflationAt(levels[i]));
  }
  if (impl_->inflation.factor > 1) {
    joint.covariance = widening.asDiagonal() * joint.covariance * widening.asDiagonal();
  }
  return JointPosterior{.mean = joint.mean.array() * sd + impl_->scaling.output_mean,
                        .covariance = 0.5 * (joint.covariance + joint.covariance.transpose())};
}

absl::StatusOr<Matrix> BaselineEmulator::SamplePaths(const Matrix& x, const SampleOptions& options) const {
  if (options.count < 1) {
    return absl::InvalidArgumentError(absl::StrFormat("count: %d, want at least 1", options.count));
  }
  const int level = impl_->LevelOf(options.level);
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  FIDELIO_RETURN_IF_ERROR(CheckJointQuery(*this, x, std::vector<int>(x.rows(), level)));
  FIDELIO_ASSIGN_OR_RETURN(Matrix paths, impl_->posterior->Sample(impl_->scaling.ScaleInputs(x), level, options.count,
                                                                  options.seed, options.threads));
  paths = paths.array() * impl_->scaling.output_sd + impl_->scaling.output_mean;
  if (options.include_noise) {
    for (Index i = 0; i < paths.rows(); ++i) {
      Random random(options.seed, StreamOf(RandomUse::kPathNoise), static_cast<uint32_t>(i));
      for (double& f : paths.row(i)) f += std::sqrt(impl_->noise[level]) * random.Normal();
    }
  }
  if (const double widening = std::sqrt(impl_->InflationAt(level)); widening > 1) {
    FIDELIO_ASSIGN_OR_RETURN(const Prediction p, Predict(x, {.level = level, .threads = options.threads}));
    paths = ((paths.rowwise() - p.mean.transpose()) * widening).rowwise() + p.mean.transpose();
  }
  return paths;
}

absl::StatusOr<std::vector<ObservedMixtures>> BaselineEmulator::LeaveOneOutMixtures() const {
  std::vector<ObservedMixtures> result;
  for (int level = 0; level < levels(); ++level) result.push_back(impl_->LeftOut(level));
  return result;
}

absl::StatusOr<std::vector<LeaveOneOut>> BaselineEmulator::LeaveOneOutPredictions() const {
  FIDELIO_ASSIGN_OR_RETURN(const std::vector<ObservedMixtures> mixtures, LeaveOneOutMixtures());
  std::vector<LeaveOneOut> result;
  for (const ObservedMixtures& mixture : mixtures) {
    result.push_back(Summarise(mixture));
    result.back().inflation = impl_->InflationAt(static_cast<int>(result.size()) - 1);
  }
  return result;
}

absl::StatusOr<std::unique_ptr<Emulator>> BaselineEmulator::Condition(const Dataset& data, int) const {
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  if (levels() != static_cast<int>(data.levels.size()) || input_dimension() != data.dimension()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("data: %d levels and input dimension %d, but the model has %d levels and dimension %d",
                        data.levels.size(), data.dimension(), levels(), input_dimension()));
  }
  ScaledData scaled = ScaleData(data, 0, impl_->scaling);
  for (int t = 0; t < levels(); ++t) {
    if (scaled.learn_noise[t] == impl_->learn_noise[t]) continue;
    return absl::FailedPreconditionError(absl::StrFormat(
        "level %d: its noise variance was %s by the fit and is %s now; fit again", t,
        impl_->learn_noise[t] ? "learned" : "given", scaled.learn_noise[t] ? "to be learned" : "given"));
  }
  const BaselineModel model(impl_->method, std::move(scaled));
  std::vector<StageParameters> stages = impl_->stages;
  FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<const ScaledPosterior> after, model.Posterior(stages));
  for (size_t t = 0; t < stages.size(); ++t) {
    const int stage = static_cast<int>(t);
    std::vector<StageDraw>& draws = stages[t].draws;
    Vector weights(static_cast<Index>(draws.size()));
    for (size_t k = 0; k < draws.size(); ++k) weights[static_cast<Index>(k)] = draws[k].weight;
    weights = Reweigh(weights, after->LogLikelihoods(stage) - impl_->posterior->LogLikelihoods(stage));
    for (size_t k = 0; k < draws.size(); ++k) draws[k].weight = weights[static_cast<Index>(k)];
  }
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<Impl> impl, Impl::Build(data, model, std::move(stages), impl_->report));
  impl->Inflate(InflationOf(impl->LeftOutAtTop()));
  return std::unique_ptr<Emulator>(new BaselineEmulator(std::move(impl)));
}

}  // namespace fidelio
