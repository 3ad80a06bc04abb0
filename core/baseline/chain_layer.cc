#include "core/baseline/chain_layer.h"

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "core/baseline/baseline_priors.h"
#include "core/kernel/spectral_path.h"
#include "core/kernel/stationary.h"
#include "core/linalg/packed.h"

namespace fidelio {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;

double ExpOr0(const Vector& theta, int at) { return at < 0 ? 0 : std::exp(theta[at]); }

class ChainEvaluation : public GpEvaluation {
 public:
  explicit ChainEvaluation(const ChainLayer& model) : model_(model), place_(model.places()) {}

  void Forward(const Vector& theta, MatrixRef k, Vector& mean, Vector& noise) override {
    const Matrix& z = model_.observations().inputs;
    const Index n = z.rows();
    const int d = model_.dimension();
    theta_ = theta;
    amplitude_ = std::exp(theta[place_.amplitude]);
    offset_ = ExpOr0(theta, place_.offset);
    delta_inputs_ = z.leftCols(d) * model_.InverseLengthscales(theta).asDiagonal();
    PairDistances(delta_inputs_, delta_);
    EvaluateRadial(model_.family(), delta_, &delta_slope_);
    pairs_ = amplitude_ * delta_ + offset_;
    link_amplitude_ = model_.LinkAmplitude(theta);
    if (place_.link_amplitude >= 0) {
      link_inputs_ = z.leftCols(d) * model_.InverseLinkLengthscales(theta).asDiagonal();
      PairDistances(link_inputs_, link_);
      EvaluateRadial(model_.family(), link_, &link_slope_);
      output_inputs_ = z.rightCols(1) * std::exp(-theta[place_.output_lengthscale]);
      PairDistances(output_inputs_, output_);
      EvaluateRadial(model_.family(), output_, &output_slope_);
      pairs_ += link_amplitude_ * link_ * output_;
    }
    UnpackLower(pairs_, Vector::Constant(n, amplitude_ + offset_ + link_amplitude_), 1, k);
    mean = Vector::Constant(n, place_.mean < 0 ? 0 : theta[place_.mean]);
    if (place_.rho >= 0) mean += theta[place_.rho] * z.rightCols(1);
    noise = model_.observations().noise.array() + model_.Noise(theta);
  }

  void Reverse(const Matrix& k_bar, const Vector& mean_bar, Eigen::Ref<Vector> gradient) override {
    const int d = model_.dimension();
    const double diagonal_bar = k_bar.diagonal().sum();
    PackPairs(k_bar, 2, pairs_);
    gradient[place_.amplitude] += amplitude_ * ((pairs_ * delta_).sum() + diagonal_bar);
    delta_slope_ *= amplitude_ * pairs_;
    AccumulatePairLengthscaleGradient(delta_inputs_, delta_slope_, gradient.segment(place_.lengthscale, d));
    if (place_.offset >= 0) gradient[place_.offset] += offset_ * (pairs_.sum() + diagonal_bar);
    if (place_.mean >= 0) gradient[place_.mean] += mean_bar.sum();
    if (place_.rho >= 0) gradient[place_.rho] += mean_bar.dot(model_.observations().inputs.rightCols(1).col(0));
    if (place_.noise >= 0) gradient[place_.noise] += 2 * std::exp(2 * theta_[place_.noise]) * diagonal_bar;
    if (place_.link_amplitude < 0) return;
    pairs_ *= link_amplitude_;
    const double amplitude_bar = (pairs_ * link_ * output_).sum() + link_amplitude_ * diagonal_bar;
    gradient[place_.link_amplitude] += amplitude_bar;
    link_slope_ *= pairs_ * output_;
    Vector link_bar = Vector::Zero(d);
    AccumulatePairLengthscaleGradient(link_inputs_, link_slope_, link_bar);
    gradient.segment(place_.link_lengthscale, d) += link_bar;
    // ∂ ½ log(1 + ℓ_f²) / ∂ log ℓ_f
    const double part = 1 / (1 + std::exp(-2 * theta_[place_.output_lengthscale]));
    gradient[place_.output_lengthscale] += part * (2 * amplitude_bar + link_bar.sum());
    output_slope_ *= pairs_ * link_;
    AccumulatePairLengthscaleGradient(output_inputs_, output_slope_, gradient.segment(place_.output_lengthscale, 1));
  }

 private:
  const ChainLayer& model_;
  const ChainLayer::Places place_;
  Vector theta_;
  double amplitude_ = 0, offset_ = 0, link_amplitude_ = 0;
  Matrix delta_inputs_, link_inputs_, output_inputs_;
  ArrayXd pairs_, delta_, delta_slope_, link_, link_slope_, output_, output_slope_;
};

class ChainPrior : public GpPrior {
 public:
  ChainPrior(const ChainLayer& model, const Vector& theta)
      : family_(model.family()),
        dimension_(model.dimension()),
        nonlinear_(model.kind() == LayerKind::kNonlinear),
        mean_(model.places().mean < 0 ? 0 : theta[model.places().mean]),
        rho_(model.Rho(theta)),
        amplitude_(std::exp(theta[model.places().amplitude])),
        offset_(ExpOr0(theta, model.places().offset)),
        link_amplitude_(model.LinkAmplitude(theta)),
        inverse_(model.InverseLengthscales(theta)) {
    if (nonlinear_) {
      link_inverse_ = model.InverseLinkLengthscales(theta);
      output_inverse_ = std::exp(-theta[model.places().output_lengthscale]);
    }
    data_ = Scale(model.observations().inputs);
    data_mean_ = Mean(model.observations().inputs);
  }

  Vector Mean(const Matrix& z) const override {
    Vector mean = Vector::Constant(z.rows(), mean_);
    if (rho_ != 0) mean += rho_ * z.rightCols(1);
    return mean;
  }

  Vector Variance(const Matrix& z) const override {
    return Vector::Constant(z.rows(), amplitude_ + offset_ + link_amplitude_);
  }

  Matrix WithData(const Matrix& z) const override { return Between(data_, Scale(z)); }

  Matrix Among(const Matrix& z) const override {
    const Scaled scaled = Scale(z);
    return Between(scaled, scaled);
  }

  Matrix InputGradient(const Matrix& z, const Vector& mean_bar, const Vector&, const Matrix& cross_bar) const override {
    Matrix z_bar = Matrix::Zero(z.rows(), z.cols());
    if (rho_ != 0) z_bar.rightCols(1) = rho_ * mean_bar;
    if (data_.delta.rows() == 0) return z_bar;
    const Scaled at = Scale(z);
    Matrix kernel, slope;
    CrossKernelWithSlope(family_, data_.delta, at.delta, kernel, slope);
    slope.array() *= amplitude_ * cross_bar.array();
    AddInputs(data_.delta, at.delta, slope, inverse_, z_bar.leftCols(dimension_));
    if (!nonlinear_) return z_bar;
    Matrix output, output_slope;
    CrossKernelWithSlope(family_, data_.link, at.link, kernel, slope);
    CrossKernelWithSlope(family_, data_.output, at.output, output, output_slope);
    slope.array() *= link_amplitude_ * cross_bar.array() * output.array();
    AddInputs(data_.link, at.link, slope, link_inverse_, z_bar.leftCols(dimension_));
    output_slope.array() *= link_amplitude_ * cross_bar.array() * kernel.array();
    AddInputs(data_.output, at.output, output_slope, Vector::Constant(1, output_inverse_), z_bar.rightCols(1));
    return z_bar;
  }

  std::unique_ptr<const GpPriorPath> Draw(Random& random) const override {
    return std::make_unique<Path>(*this, random);
  }

 private:
  // Inputs divided by lengthscales.
  struct Scaled {
    Matrix delta, link, output;
  };

  Scaled Scale(const Matrix& z) const {
    Scaled scaled{.delta = z.leftCols(dimension_) * inverse_.asDiagonal(), .link = {}, .output = {}};
    if (!nonlinear_) return scaled;
    scaled.link = z.leftCols(dimension_) * link_inverse_.asDiagonal();
    scaled.output = z.rightCols(1) * output_inverse_;
    return scaled;
  }

  Matrix Between(const Scaled& a, const Scaled& b) const {
    Matrix k, output;
    CrossKernel(family_, amplitude_, a.delta, b.delta, k);
    k.array() += offset_;
    if (!nonlinear_) return k;
    Matrix link;
    CrossKernel(family_, link_amplitude_, a.link, b.link, link);
    CrossKernel(family_, 1, a.output, b.output, output);
    k += link.cwiseProduct(output);
    return k;
  }

  static void AddInputs(const Matrix& a, const Matrix& b, const Matrix& s_bar, const Vector& inverse, MatrixRef z_bar) {
    Matrix scaled_bar = Matrix::Zero(b.rows(), b.cols());
    AccumulateCrossInputGradient(a, b, s_bar, scaled_bar);
    z_bar += scaled_bar * inverse.asDiagonal();
  }

  // A function for every term of the kernel.
  class Path : public GpPriorPath {
   public:
    Path(const ChainPrior& prior, Random& random)
        : prior_(prior),
          delta_({prior.OverX()}, kPathWaves, random),
          offset_(std::sqrt(prior.offset_) * random.Normal()) {
      if (!prior.nonlinear_) return;
      const SpectralFactor over_f{.family = prior.family_, .dimensions = 1};
      link_.emplace(std::vector{prior.OverX(), over_f}, kPathWaves, random);
    }

    Vector Evaluate(const Matrix& z) const override { return prior_.Mean(z) + Deviation(prior_.Scale(z)); }
    Vector AtData() const override { return prior_.data_mean_ + Deviation(prior_.data_); }

   private:
    Vector Deviation(const Scaled& at) const {
      Vector f = (std::sqrt(prior_.amplitude_) * delta_.Evaluate(at.delta)).array() + offset_;
      if (!link_) return f;
      Matrix both(at.link.rows(), at.link.cols() + 1);
      both << at.link, at.output;
      return f + std::sqrt(prior_.link_amplitude_) * link_->Evaluate(both);
    }

    const ChainPrior& prior_;
    SpectralPath delta_;
    std::optional<SpectralPath> link_;
    double offset_;
  };

  SpectralFactor OverX() const { return {.family = family_, .dimensions = dimension_}; }

  KernelFamily family_;
  int dimension_;
  bool nonlinear_;
  double mean_, rho_, amplitude_, offset_, link_amplitude_, output_inverse_ = 1;
  Vector inverse_, link_inverse_, data_mean_;
  Scaled data_;
};

}  // namespace

ChainLayer::ChainLayer(LayerKind kind, LayerObservations observations, const StageForm& form, const Vector& lean)
    : kind_(kind),
      data_(std::move(observations)),
      family_(form.family),
      dimension_(static_cast<int>(data_.inputs.cols()) - (kind == LayerKind::kFirst ? 0 : 1)),
      shift_(lean.size() == 0 ? Vector(Vector::Zero(dimension_)) : Vector(kTie * lean)) {
  const int d = dimension_;
  ParameterLayout& p = parameters_;
  if (kind == LayerKind::kNonlinear) {
    places_.link_lengthscale = p.Add("lr", d, LinkLengthscalePrior(d));
    places_.link_amplitude = p.Add("w", 1, LinkAmplitudePrior());
    places_.output_lengthscale = p.Add("lf", 1, LinkOutputLengthscalePrior());
  }
  const bool first = kind == LayerKind::kFirst;
  places_.lengthscale = p.Add("ls", d, first ? FirstLengthscalePrior(d) : DeltaLengthscalePrior(d));
  places_.amplitude = p.Add("v", 1, first ? FirstAmplitudePrior() : DeltaAmplitudePrior());
  if (first) places_.mean = p.Add("mu", 1, FirstMeanPrior());
  if (kind == LayerKind::kLinear) places_.rho = p.Add("rh", 1, RhoPrior());
  if (!first) places_.offset = p.Add("a", 1, OffsetPrior());
  if (data_.learn_noise) places_.noise = p.Add("n", 1, NoisePrior());
}

std::unique_ptr<GpEvaluation> ChainLayer::NewEvaluation() const { return std::make_unique<ChainEvaluation>(*this); }

std::unique_ptr<const GpPrior> ChainLayer::At(const Vector& theta) const {
  return std::make_unique<ChainPrior>(*this, theta);
}

double ChainLayer::Noise(const Vector& theta) const {
  return kNoiseFloor + (places_.noise < 0 ? 0 : std::exp(2 * theta[places_.noise]));
}

double ChainLayer::Rho(const Vector& theta) const { return places_.rho < 0 ? 0 : theta[places_.rho]; }

Vector ChainLayer::InverseLengthscales(const Vector& theta) const {
  return (-theta.segment(places_.lengthscale, dimension_) - shift_).array().exp();
}

double ChainLayer::LinkAmplitude(const Vector& theta) const {
  if (places_.link_amplitude < 0) return 0;
  return std::exp(theta[places_.link_amplitude]) +
         std::exp(theta[places_.link_amplitude] + 2 * theta[places_.output_lengthscale]);
}

Vector ChainLayer::InverseLinkLengthscales(const Vector& theta) const {
  const double flat = 0.5 * std::log1p(std::exp(2 * theta[places_.output_lengthscale]));
  return (-theta.segment(places_.link_lengthscale, dimension_) - shift_).array().exp() * std::exp(-flat);
}

Vector ChainLayer::Lean(const Vector& theta) const {
  const double centre = FirstLengthscalePrior(dimension_).centre;
  return theta.segment(places_.lengthscale, dimension_).array() - centre;
}

}  // namespace fidelio
