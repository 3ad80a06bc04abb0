// A FittedEmulator at many inputs at once: joint moments, samples, and functions.
#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/emulator/fitted_emulator.h"
#include "core/emulator/query_check.h"

namespace fidelio {
namespace {

using Eigen::Index;

// diag(f)·½(C + Cᵀ)·diag(f), in blocks that fit into the cache.
void ScaleSymmetric(const Vector& f, int threads, Matrix& covariance) {
  const Index n = covariance.rows();
  ParallelFor(static_cast<int>((n + kQueryBlock - 1) / kQueryBlock), threads, [&](int b) {
    const Index column = b * kQueryBlock, columns = std::min(kQueryBlock, n - column);
    for (Index row = column; row < n; row += kQueryBlock) {
      const Index rows = std::min(kQueryBlock, n - row);
      auto lower = covariance.block(row, column, rows, columns), upper = covariance.block(column, row, columns, rows);
      Matrix scaled = 0.5 * (lower + upper.transpose());
      scaled = f.segment(row, rows).asDiagonal() * scaled * f.segment(column, columns).asDiagonal();
      if (row == column) scaled.triangularView<Eigen::StrictlyUpper>() = scaled.transpose();
      lower = scaled;
      upper = scaled.transpose();
    }
  });
}

}  // namespace

Vector FittedEmulator::FactorsAt(const std::vector<int>& levels) const {
  Vector factors(static_cast<Index>(levels.size()));
  for (size_t i = 0; i < levels.size(); ++i) {
    factors[static_cast<Index>(i)] = state_.scaling.output_sd * std::sqrt(InflationAt(levels[i]));
  }
  return factors;
}

double FittedEmulator::MeanNoise(int level) const { return weights_[level].dot(noises_[level]) * InflationAt(level); }

absl::StatusOr<JointPosterior> FittedEmulator::JointMomentsAt(const Matrix& x, const std::vector<int>& levels,
                                                              const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckJointQuery(*this, x, levels));
  FIDELIO_ASSIGN_OR_RETURN(
      Posterior::JointGaussian joint,
      posterior_->Joint(state_.scaling.ScaleInputs(x), levels, {.threads = options.threads, .check = options.check}));
  ScaleSymmetric(FactorsAt(levels), options.threads, joint.covariance);
  for (Index i = 0; options.include_noise && i < x.rows(); ++i) joint.covariance(i, i) += MeanNoise(levels[i]);
  return JointPosterior{.mean = joint.mean.array() * state_.scaling.output_sd + state_.scaling.output_mean,
                        .covariance = std::move(joint.covariance)};
}

absl::StatusOr<Matrix> FittedEmulator::JointColumnsAt(const Matrix& x, const std::vector<int>& levels,
                                                      const std::vector<int>& columns,
                                                      const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckJointQuery(*this, x, levels));
  FIDELIO_RETURN_IF_ERROR(CheckColumns(columns, x.rows()));
  FIDELIO_ASSIGN_OR_RETURN(Matrix covariance,
                           posterior_->JointColumns(state_.scaling.ScaleInputs(x), levels, columns,
                                                    {.threads = options.threads, .check = options.check}));
  const Vector factors = FactorsAt(levels);
  covariance = (factors.asDiagonal() * covariance * factors(columns).asDiagonal()).eval();
  for (size_t j = 0; options.include_noise && j < columns.size(); ++j) {
    covariance(columns[j], static_cast<Index>(j)) += MeanNoise(levels[columns[j]]);
  }
  return covariance;
}

absl::StatusOr<Matrix> FittedEmulator::SamplePaths(const Matrix& x, const SampleOptions& options) const {
  if (options.count < 1) {
    return absl::InvalidArgumentError(absl::StrFormat("count: %d, want at least 1", options.count));
  }
  FIDELIO_RETURN_IF_ERROR(CheckJointSize(x));
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  const int level = LevelOf(options.level);
  const double sd = state_.scaling.output_sd;
  Posterior::SampleRequest request{
      .count = options.count, .seed = options.seed, .options = {.threads = options.threads, .check = options.check}};
  if (options.include_noise) request.noise = noises_[level] / sd / sd;
  FIDELIO_ASSIGN_OR_RETURN(Matrix paths, posterior_->Sample(state_.scaling.ScaleInputs(x), level, request));
  paths = paths.array() * sd + state_.scaling.output_mean;
  if (const double widening = std::sqrt(InflationAt(level)); widening > 1) {  // about the mixture's mean, as variances
    FIDELIO_ASSIGN_OR_RETURN(const Prediction p, Predict(x, {.level = level, .threads = options.threads}));
    paths = ((paths.rowwise() - p.mean.transpose()) * widening).rowwise() + p.mean.transpose();
  }
  return paths;
}

class FittedEmulator::Paths final : public PathSamples {
 public:
  Paths(const FittedEmulator& model, PathOptions options) : model_(model), options_(options) {
    options_.level = model.LevelOf(options.level);
    functions_ = model.posterior_->Draw(options_);
  }

  absl::StatusOr<Matrix> Evaluate(const Matrix& x) const override {
    FIDELIO_RETURN_IF_ERROR(CheckQuery(model_, x, options_.level));
    const Scaling& scaling = model_.state_.scaling;
    const double widening = std::sqrt(model_.InflationAt(options_.level));
    Matrix paths(options_.count, x.rows());
    ParallelFor(static_cast<int>((x.rows() + kQueryBlock - 1) / kQueryBlock), options_.threads, [&](int b) {
      const Index begin = b * kQueryBlock, n = std::min(kQueryBlock, x.rows() - begin);
      Vector mean;
      Matrix f = functions_->Evaluate(scaling.ScaleInputs(x.middleRows(begin, n)), widening > 1 ? &mean : nullptr);
      if (widening > 1) f = ((f.colwise() - mean) * widening).colwise() + mean;  // as variances
      paths.middleCols(begin, n) = (f.transpose().array() * scaling.output_sd + scaling.output_mean).matrix();
    });
    return paths;
  }

 private:
  const FittedEmulator& model_;
  PathOptions options_;
  std::unique_ptr<const Posterior::Functions> functions_;
};

absl::StatusOr<std::unique_ptr<PathSamples>> FittedEmulator::DrawPaths(const PathOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckPaths(*this, options));
  return std::make_unique<Paths>(*this, options);
}

}  // namespace fidelio
