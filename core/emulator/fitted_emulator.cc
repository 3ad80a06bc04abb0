#include "core/emulator/fitted_emulator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/data/scaling_bytes.h"
#include "core/emulator/query_check.h"

namespace fidelio {

using Eigen::Index;

FittedEmulator::FittedEmulator(FittedState state, std::unique_ptr<const Posterior> posterior)
    : state_(std::move(state)), posterior_(std::move(posterior)) {
  posterior_->Describe(state_.report);
  const double sd = state_.scaling.output_sd;
  for (int t = 0; t < levels(); ++t) {
    const Vector& given = state_.data.levels[t].noise_variance;
    double own = given.size() > 0 ? given.mean() : 0;
    if (t + 1 == levels()) own /= state_.inflation.NoiseDivisor();
    weights_.push_back(posterior_->Weights(t));
    noises_.emplace_back(posterior_->Noise(t).array() * sd * sd + own);
  }
}

absl::StatusOr<std::unique_ptr<FittedEmulator>> FittedEmulator::Create(FittedState state,
                                                                       std::unique_ptr<const Posterior> posterior,
                                                                       int threads) {
  const int top = static_cast<int>(state.data.levels.size()) - 1;
  if (state.data.levels[top].y.size() <= posterior->most_for_inflation()) {
    FIDELIO_ASSIGN_OR_RETURN(const ObservedMixtures left_out, LeaveOut(state, *posterior, top, threads));
    state.inflation = InflationOf(Summarise(left_out));
  }
  return std::make_unique<FittedEmulator>(std::move(state), std::move(posterior));
}

void FittedEmulator::ForBlocks(const Matrix& x, int level, int threads, const BlockBody& body) const {
  const int blocks = static_cast<int>((x.rows() + kQueryBlock - 1) / kQueryBlock);
  ParallelFor(blocks, threads, [&](int b) {
    const Index begin = b * kQueryBlock, n = std::min(kQueryBlock, x.rows() - begin);
    body(begin, n, *posterior_->At(state_.scaling.ScaleInputs(x.middleRows(begin, n)), level));
  });
}

Mixture FittedEmulator::MixtureAt(Posterior::Block& block, int level, bool include_noise) const {
  Posterior::Gaussians own = block.Predict();
  const double sd = state_.scaling.output_sd;
  own.mean = own.mean.array() * sd + state_.scaling.output_mean;
  own.variance *= sd;
  own.variance *= sd;
  if (include_noise) own.variance.colwise() += noises_[level];
  Mixture mixture{.weight = weights_[level], .mean = std::move(own.mean), .variance = std::move(own.variance)};
  Inflate(InflationAt(level), mixture);
  return mixture;
}

Matrix FittedEmulator::GradientAt(Posterior::Block& block, int level, Matrix mean_bar, Matrix variance_bar) const {
  InflateAdjoints(InflationAt(level), weights_[level], mean_bar, variance_bar);
  const double sd = state_.scaling.output_sd;
  return block.Gradient(sd * mean_bar, sd * (sd * variance_bar)) *
         state_.scaling.input_width.cwiseInverse().asDiagonal();
}

absl::StatusOr<Prediction> FittedEmulator::Predict(const Matrix& x, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  FIDELIO_RETURN_IF_ERROR(CheckQuantiles(options.quantiles));
  const int level = LevelOf(options.level);
  Prediction result = RoomFor(x, options);
  ForBlocks(x, level, options.threads, [&](Index begin, Index n, Posterior::Block& block) {
    const Mixture mixture = MixtureAt(block, level, options.include_noise);
    const Vector mean = MixtureMean(mixture);
    result.mean.segment(begin, n) = mean;
    result.variance.segment(begin, n) = MixtureVariance(mixture, mean);
    SetMedians(mixture, mean, begin, result);
    if (!options.quantiles.empty()) {
      result.quantiles.middleRows(begin, n) = MixtureQuantiles(mixture, options.quantiles);
    }
    if (options.input_gradient) {
      result.input_gradient.middleRows(begin, n) =
          GradientAt(block, level, mixture.weight.replicate(1, n), Matrix::Zero(mixture.weight.size(), n));
    }
  });
  return result;
}

absl::StatusOr<Vector> FittedEmulator::LogDensity(const Matrix& x, const Vector& y,
                                                  const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  FIDELIO_RETURN_IF_ERROR(CheckOutputs(x, y));
  const int level = LevelOf(options.level);
  Vector result(x.rows());
  ForBlocks(x, level, options.threads, [&](Index begin, Index n, Posterior::Block& block) {
    result.segment(begin, n) = MixtureLogDensity(MixtureAt(block, level, options.include_noise), y.segment(begin, n));
  });
  return result;
}

absl::StatusOr<Mixture> FittedEmulator::PredictMixture(const Matrix& x, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  const int level = LevelOf(options.level);
  Mixture result;
  result.weight = weights_[level];
  result.mean.resize(result.weight.size(), x.rows());
  result.variance.resize(result.weight.size(), x.rows());
  ForBlocks(x, level, options.threads, [&](Index begin, Index n, Posterior::Block& block) {
    const Mixture mixture = MixtureAt(block, level, options.include_noise);
    result.mean.middleCols(begin, n) = mixture.mean;
    result.variance.middleCols(begin, n) = mixture.variance;
  });
  return result;
}

absl::StatusOr<Matrix> FittedEmulator::MixtureGradient(const Matrix& x, const Matrix& mean_bar,
                                                       const Matrix& variance_bar,
                                                       const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  const int level = LevelOf(options.level);
  FIDELIO_RETURN_IF_ERROR(CheckMixtureGradient(x, weights_[level].size(), mean_bar, variance_bar));
  Matrix result(x.rows(), x.cols());
  ForBlocks(x, level, options.threads, [&](Index begin, Index n, Posterior::Block& block) {
    result.middleRows(begin, n) =
        GradientAt(block, level, mean_bar.middleCols(begin, n), variance_bar.middleCols(begin, n));
  });
  return result;
}

bool SameNoise(const Dataset& a, const Dataset& b) {
  for (size_t t = 0; t < a.levels.size(); ++t) {
    if ((a.levels[t].noise_variance.size() == 0) != (b.levels[t].noise_variance.size() == 0)) return false;
  }
  return true;
}

absl::StatusOr<std::unique_ptr<Emulator>> FittedEmulator::Condition(const Dataset& data, int threads) const {
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  if (levels() != static_cast<int>(data.levels.size()) || input_dimension() != data.dimension()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("data: %d levels and input dimension %d, but the model has %d levels and dimension %d",
                        data.levels.size(), data.dimension(), levels(), input_dimension()));
  }
  for (int t = 0; t < levels(); ++t) {
    const bool learned = state_.data.levels[t].noise_variance.size() == 0;
    if (learned == (data.levels[t].noise_variance.size() == 0)) continue;
    return absl::FailedPreconditionError(
        absl::StrFormat("level %d: its noise variance was %s by the fit and is %s now; fit again", t,
                        learned ? "learned" : "given", learned ? "given" : "to be learned"));
  }
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<const Posterior> posterior, posterior_->Condition(state_, data, threads));
  return Create({.data = data, .scaling = state_.scaling, .report = state_.report, .inflation = state_.inflation},
                std::move(posterior), threads);
}

absl::Status CheckWarmStart(const Emulator& warm, const Dataset& data) {
  if (warm.levels() == static_cast<int>(data.levels.size()) && warm.input_dimension() == data.dimension()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "warm_start: a model of %d levels and input dimension %d, but the data has %d levels and dimension %d",
      warm.levels(), warm.input_dimension(), data.levels.size(), data.dimension()));
}

absl::Status CheckLoadedData(const Dataset& data) {
  const absl::Status status = Validate(data);
  if (status.ok()) return status;
  return absl::DataLossError(absl::StrFormat("checkpoint holds invalid data: %s", status.message()));
}

absl::Status CheckLoaded(const FittedState& state) {
  FIDELIO_RETURN_IF_ERROR(CheckLoadedData(state.data));
  FIDELIO_RETURN_IF_ERROR(CheckInflation(state.inflation));
  return CheckScaling(state.scaling, state.data.dimension());
}

}  // namespace fidelio
