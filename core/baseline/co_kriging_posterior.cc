#include "core/baseline/co_kriging_posterior.h"

#include <algorithm>

#include "core/base/random_streams.h"
#include "core/base/status_macros.h"
#include "core/baseline/draw_paths.h"
#include "core/gp/gaussian_samples.h"

namespace fidelio {
namespace {

using Eigen::Index;

// Inputs as CoKriging sees them: x and the level.
Matrix WithLevel(const Matrix& x, int level) {
  Matrix z(x.rows(), x.cols() + 1);
  z.leftCols(x.cols()) = x;
  z.rightCols(1).setConstant(level);
  return z;
}

}  // namespace

CoKrigingPosterior::CoKrigingPosterior(const ScaledData& data) : offset_(data.offset), noise_(data.levels(), 0) {
  for (int t = 0; t < data.levels(); ++t) {
    copies_.push_back(FindEqualRows(data.x.middleRows(data.offset[t], data.count(t))));
  }
}

absl::Status CoKrigingPosterior::Add(const CoKriging& model, const Vector& theta, double weight) {
  FIDELIO_ASSIGN_OR_RETURN(GpPosterior posterior, GpPosterior::Build(model, theta));
  draws_.push_back(std::move(posterior));
  const auto count = static_cast<Index>(draws_.size());
  weights_.conservativeResize(count);
  weights_[count - 1] = weight;
  noise_.conservativeResize(noise_.rows(), count);
  for (Index t = 0; t < noise_.rows(); ++t) noise_(t, count - 1) = model.Noise(theta, static_cast<int>(t));
  return absl::OkStatus();
}

Posterior::Gaussians CoKrigingPosterior::Predict(const Matrix& x, int level) const {
  const Matrix z = WithLevel(x, level);
  Gaussians result{.mean = Matrix(weights_.size(), x.rows()), .variance = Matrix(weights_.size(), x.rows())};
  for (Index k = 0; k < weights_.size(); ++k) {
    const GpPosterior::Moments m = draws_[k].Predict(z);
    result.mean.row(k) = m.mean.transpose();
    result.variance.row(k) = m.variance.transpose();
  }
  return result;
}

Matrix CoKrigingPosterior::Gradient(const Matrix& x, int level, const Matrix& mean_bar,
                                    const Matrix& variance_bar) const {
  const Matrix z = WithLevel(x, level);
  Matrix x_bar = Matrix::Zero(x.rows(), x.cols());
  for (Index k = 0; k < weights_.size(); ++k) {
    x_bar += draws_[k].Gradient(z, mean_bar.row(k), variance_bar.row(k)).leftCols(x.cols());
  }
  return x_bar;
}

absl::StatusOr<Posterior::JointGaussian> CoKrigingPosterior::Joint(const Matrix& x, const std::vector<int>& levels,
                                                                   const JointOptions& options) const {
  Matrix z = WithLevel(x, 0), means(x.rows(), weights_.size());
  for (size_t i = 0; i < levels.size(); ++i) z(static_cast<Index>(i), x.cols()) = levels[i];
  JointGaussian joint{.mean = {}, .covariance = Matrix::Zero(x.rows(), x.rows())};
  for (Index k = 0; k < weights_.size(); ++k) {
    if (options.check) FIDELIO_RETURN_IF_ERROR(options.check());
    means.col(k) = draws_[k].Predict(z).mean;
    joint.covariance += weights_[k] * draws_[k].Covariance(z);
  }
  joint.mean = means * weights_;
  means.colwise() -= joint.mean;
  joint.covariance += means * weights_.asDiagonal() * means.transpose();
  return joint;
}

absl::StatusOr<Matrix> CoKrigingPosterior::Sample(const Matrix& x, int level, const SampleRequest& request) const {
  const Matrix z = WithLevel(x, level);
  const std::vector<std::vector<int>> samples =
      SamplesOfDraws(weights_, request.count, request.seed, StreamOf(RandomUse::kPathComponent));
  Matrix paths(request.count, x.rows());
  for (size_t k = 0; k < draws_.size(); ++k) {
    if (samples[k].empty()) continue;
    FIDELIO_RETURN_IF_ERROR(SampleGaussian(draws_[k].Predict(z).mean, draws_[k].Covariance(z), samples[k], request.seed,
                                           StreamOf(RandomUse::kPathNormal), paths));
  }
  if (request.noise.size() > 0) AddNoise(weights_.dot(request.noise), request.seed, paths);
  return paths;
}

std::unique_ptr<const Posterior::Functions> CoKrigingPosterior::Draw(const PathOptions& options) const {
  class Paths : public Functions {
   public:
    Paths(const CoKrigingPosterior& posterior, const std::vector<const GpPosterior*>& draws, int level,
          std::vector<Random> random)
        : posterior_(posterior), level_(level), paths_(draws, posterior.weights_, random) {}
    Matrix Evaluate(const Matrix& x, Vector* mean) const override {
      if (mean != nullptr) *mean = posterior_.Predict(x, level_).mean.transpose() * posterior_.weights_;
      return paths_.Evaluate(WithLevel(x, level_));
    }

   private:
    const CoKrigingPosterior& posterior_;
    const int level_;
    const DrawPaths paths_;
  };
  std::vector<const GpPosterior*> draws;
  for (const GpPosterior& draw : draws_) draws.push_back(&draw);
  return std::make_unique<Paths>(*this, draws, options.level, FunctionRandoms(options));
}

absl::StatusOr<Posterior::LeftOut> CoKrigingPosterior::LeaveOneOut(const FittedState&, int level, int) const {
  const int begin = offset_[level], n = offset_[level + 1] - begin;
  const CopyGroups& copies = copies_[level].copies;
  LeftOut result{.mean = Matrix(weights_.size(), n),
                 .variance = Matrix(weights_.size(), n),
                 .log_density = Matrix(weights_.size(), copies.empty() ? 0 : n)};
  for (Index k = 0; k < weights_.size(); ++k) {
    const GpPosterior::LeftOutMoments m = draws_[k].LeaveOneOut(begin, begin + n, copies);
    result.mean.row(k) = m.mean.transpose();
    result.variance.row(k) = m.variance.transpose();
    result.log_density.row(k) = m.log_density.transpose();
  }
  return result;
}

Vector CoKrigingPosterior::LogLikelihoods(int) const {
  Vector result(weights_.size());
  for (Index k = 0; k < weights_.size(); ++k) result[k] = draws_[k].log_likelihood();
  return result;
}

double CoKrigingPosterior::max_jitter() const {
  double jitter = 0;
  for (const GpPosterior& draw : draws_) jitter = std::max(jitter, draw.jitter());
  return jitter;
}

int64_t CoKrigingPosterior::FactorBytes() const {
  int64_t bytes = 0;
  for (const GpPosterior& draw : draws_) bytes += draw.MemoryBytes();
  return bytes;
}

}  // namespace fidelio
