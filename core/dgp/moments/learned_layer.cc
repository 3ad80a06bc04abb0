#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "core/dgp/moments/first_layer.h"
#include "core/dgp/moments/moment_model.h"
#include "core/kernel/input_warp.h"
#include "core/kernel/quadratic_path.h"
#include "core/kernel/spectral_path.h"
#include "core/kernel/stationary.h"
#include "core/linalg/lanes.h"
#include "core/linalg/packed.h"

namespace fidelio {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;

class LearnedEvaluation final : public FirstEvaluation {
 public:
  explicit LearnedEvaluation(const MomentModel& model) : model_(model) {}

  void Forward(const ConstVectorRef& theta, Matrix& k, Vector& mean) override {
    const Index n = model_.data.x.rows();
    const FirstLayerOffsets& at = model_.layout.first;
    theta_ = theta;
    const double amplitude = std::exp(theta[at.amplitude]);
    ForwardInputs();
    PairDistances(inputs_, kernel_);
    EvaluateRadial(model_.recipe.kernel, kernel_, &slope_);
    Vector diagonal = Vector::Constant(n, amplitude);
    k.resize(n, n);
    if (const double trend = model_.Trend(theta, 0); trend > 0) {
      diagonal += trend * model_.trend_diagonal;
      const ArrayXd pairs = amplitude * kernel_ + trend * model_.trend_pairs[0];
      UnpackLower(pairs, diagonal, 1, k);
    } else {
      UnpackLower(kernel_, diagonal, amplitude, k);
    }
    mean.setConstant(n, theta[at.mean]);
  }

  void Reverse(const Matrix& k_bar, const Vector& mean_bar, Eigen::Ref<Vector> gradient) override {
    const FirstLayerOffsets& at = model_.layout.first;
    const Index n = model_.data.x.rows();
    gradient[at.mean] += mean_bar.sum();
    if (const int trend = model_.layout.trend[0]; trend >= 0) {
      PackPairs(k_bar, 2, pairs_bar_);
      gradient[trend] += std::exp(theta_[trend]) *
                         ((pairs_bar_ * model_.trend_pairs[0]).sum() + k_bar.diagonal().dot(model_.trend_diagonal));
    }
    // ∂F/∂s of the pairs, in one go with ∂F/∂log amplitude.
    const double amplitude = std::exp(theta_[at.amplitude]);
    LaneSum kernel_sum;
    pairs_bar_.resize(PairCount(n));
    ForPairColumns(n, [&](Index j, Index first) {
      ForEachLane(j + 1, n, [&]<typename T>(Index i) {
        const T pair_bar = (2 * amplitude) * Load<T>(&k_bar(i, j));
        kernel_sum += pair_bar * Load<T>(kernel_.data() + first + i);
        Store(pair_bar * Load<T>(slope_.data() + first + i), pairs_bar_.data() + first + i);
      });
    });
    gradient[at.amplitude] += kernel_sum.Total() + amplitude * k_bar.diagonal().sum();
    const int d = model_.data.dimension();
    if (at.warp < 0) {
      AccumulatePairLengthscaleGradient(inputs_, pairs_bar_, gradient.segment(at.lengthscale, d));
      return;
    }
    Matrix inputs_bar = Matrix::Zero(n, d);
    AccumulatePairInputGradient(inputs_, pairs_bar_, inputs_bar);
    for (int j = 0; j < d; ++j) {
      gradient[at.lengthscale + j] -= inputs_bar.col(j).dot(inputs_.col(j));
      gradient[at.warp + j] += inputs_bar.col(j).dot(warp_sensitivity_.col(j)) * std::exp(-theta_[at.lengthscale + j]);
    }
  }

 private:
  // LearnedPrior::Inputs, along with what the reverse pass needs of the warp.
  void ForwardInputs() {
    const Matrix& x = model_.data.x;
    const FirstLayerOffsets& at = model_.layout.first;
    inputs_.resize(x.rows(), x.cols());
    warp_sensitivity_.resize(x.rows(), x.cols());
    for (Index d = 0; d < x.cols(); ++d) {
      if (at.warp >= 0) {
        const double c = theta_[at.warp + d];
        for (Index i = 0; i < x.rows(); ++i) {
          const Warped warped = WarpInput(x(i, d), c);
          inputs_(i, d) = warped.value;
          warp_sensitivity_(i, d) = warped.sensitivity;
        }
      } else {
        inputs_.col(d) = x.col(d);
      }
      inputs_.col(d) *= std::exp(-theta_[at.lengthscale + d]);
    }
  }

  const MomentModel& model_;
  Vector theta_;
  Matrix inputs_, warp_sensitivity_;
  ArrayXd kernel_, slope_, pairs_bar_;
};

class LearnedPrior final : public FirstPrior {
 public:
  LearnedPrior(const MomentModel& model, const Vector& theta)
      : model_(model),
        theta_(theta),
        mean_(theta[model.layout.first.mean]),
        amplitude_(std::exp(theta[model.layout.first.amplitude])),
        trend_(model.Trend(theta, 0)) {
    LearnedPrior::Inputs(model.data.x, data_);
  }

  // x warped and divided by the lengthscales.
  void Inputs(const Matrix& x, Matrix& inputs) const override {
    const FirstLayerOffsets& at = model_.layout.first;
    inputs = x;
    for (Index d = 0; d < x.cols(); ++d) {
      if (at.warp >= 0) WarpInputs(theta_[at.warp + d], inputs.col(d));
      inputs.col(d) *= std::exp(-theta_[at.lengthscale + d]);
    }
  }

  void At(const MomentQueries& queries, Matrix& inputs, QueryMoments& moments) const override {
    Inputs(queries.x, inputs);
    CrossKernel(model_.recipe.kernel, amplitude_, data_, inputs, moments.cross);
    moments.mean.setConstant(queries.x.rows(), mean_);
    moments.variance.setConstant(queries.x.rows(), amplitude_);
    if (trend_ > 0) {
      moments.cross += trend_ * queries.trend;
      moments.variance += trend_ * queries.trend_diagonal;
    }
  }

  void Reverse(const MomentQueries& queries, const QueryMoments& bar, Matrix& x_bar, QueryMoments&) const override {
    const Matrix& x = queries.x;
    const FirstLayerOffsets& at = model_.layout.first;
    Matrix inputs, kernel, slope;
    Inputs(x, inputs);
    CrossKernelWithSlope(model_.recipe.kernel, data_, inputs, kernel, slope);
    slope.array() *= amplitude_ * bar.cross.array();
    Matrix inputs_bar = Matrix::Zero(x.rows(), x.cols());
    AccumulateCrossInputGradient(data_, inputs, slope, inputs_bar);
    for (Index d = 0; d < x.cols(); ++d) {
      const double scale = std::exp(-theta_[at.lengthscale + d]);
      for (Index i = 0; i < x.rows(); ++i) {
        const double warp = at.warp < 0 ? 1 : WarpInput(x(i, d), theta_[at.warp + d]).slope;
        x_bar(i, d) += inputs_bar(i, d) * scale * warp;
      }
    }
    if (trend_ > 0) model_.AddTrendGradient(x, trend_, 0, bar, x_bar);
  }

  void Between(const QueryRange& a, const QueryRange& b, Matrix& k) const override {
    const Matrix from = a.inputs.middleRows(a.begin, a.size), to = b.inputs.middleRows(b.begin, b.size);
    CrossKernel(model_.recipe.kernel, amplitude_, from, to, k);
    if (trend_ > 0) {
      k += trend_ * model_.TrendKernel(a.of.x.middleRows(a.begin, a.size), b.of.x.middleRows(b.begin, b.size));
    }
  }

  std::unique_ptr<const FirstPath> Draw(Random& random) const override {
    return std::make_unique<const Path>(*this, random);
  }

 private:
  class Path final : public FirstPath {
   public:
    Path(const LearnedPrior& prior, Random& random)
        : prior_(prior),
          kernel_({{.family = prior.model_.recipe.kernel, .dimensions = prior.model_.data.dimension()}}, kPathWaves,
                  random) {
      const MomentModel& model = prior.model_;
      if (model.recipe.trend) trend_.emplace(model.data.dimension(), model.recipe.trend_curvature, random);
    }

    Vector Evaluate(const Matrix& x, const Matrix& inputs, const ConstVectorRef&) const override {
      Vector f = std::sqrt(prior_.amplitude_) * kernel_.Evaluate(inputs);
      f.array() += prior_.mean_;
      if (prior_.trend_ > 0) f += std::sqrt(prior_.trend_) * trend_->Evaluate(prior_.model_.TrendInputs(x));
      return f;
    }

   private:
    const LearnedPrior& prior_;
    SpectralPath kernel_;
    std::optional<QuadraticPath> trend_;
  };

  const MomentModel& model_;
  const Vector theta_;
  double mean_, amplitude_, trend_;
  Matrix data_;  // inputs of the N points
};

}  // namespace

std::unique_ptr<FirstEvaluation> LearnedLayer::NewEvaluation(const MomentModel& model) const {
  return std::make_unique<LearnedEvaluation>(model);
}

std::unique_ptr<const FirstPrior> LearnedLayer::At(const MomentModel& model, const Vector& theta) const {
  return std::make_unique<const LearnedPrior>(model, theta);
}

}  // namespace fidelio
