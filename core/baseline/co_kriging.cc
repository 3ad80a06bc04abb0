#include "core/baseline/co_kriging.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/baseline/baseline_priors.h"
#include "core/kernel/spectral_path.h"
#include "core/kernel/stationary.h"
#include "core/linalg/packed.h"

namespace fidelio {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;

class CoKrigingEvaluation : public GpEvaluation {
 public:
  explicit CoKrigingEvaluation(const CoKriging& model) : model_(model), levels_(model.data().levels()) {}

  void Forward(const Vector& theta, MatrixRef k, Vector& mean, Vector& noise) override {
    const ScaledData& data = model_.data();
    const Index n = data.y.size();
    theta_ = theta;
    h_ = model_.network().Forward(Network(theta), data.x, &units_);
    pairs_.setZero(PairCount(n));
    Vector diagonal = Vector::Zero(n);
    noise = data.noise;
    for (int t = 0; t < data.levels(); ++t) {
      Level& at = levels_[t];
      const Index rest = data.rest(t);
      at.amplitude = std::exp(theta[model_.level(t).amplitude]);
      at.offset = model_.Offset(theta, t);
      at.inverse = model_.InverseLengthscales(theta, t);
      at.inputs = h_.bottomRows(rest) * at.inverse.asDiagonal();
      PairDistances(at.inputs, at.kernel);
      EvaluateRadial(model_.family(), at.kernel, &at.slope);
      const Vector factors = model_.Factors(theta, t);
      at.row_factor.resize(rest);
      for (int s = t; s < data.levels(); ++s) {
        at.row_factor.segment(data.offset[s] - data.offset[t], data.count(s)).setConstant(factors[s - t]);
      }
      const Index skipped = PairCount(n) - PairCount(rest);  // the pairs of the last points are the last pairs
      ForPairColumns(rest, [&](Index j, Index first) {
        const Index count = rest - 1 - j, begin = first + j + 1;
        pairs_.segment(skipped + begin, count) += at.row_factor[j] * at.row_factor.array().tail(count) *
                                                  (at.amplitude * at.kernel.segment(begin, count) + at.offset);
      });
      diagonal.tail(rest) += (at.amplitude + at.offset) * at.row_factor.cwiseAbs2();
      noise.segment(data.offset[t], data.count(t)).array() += model_.Noise(theta, t);
    }
    UnpackLower(pairs_, diagonal, 1, k);
    mean = theta[model_.mean_offset()] * levels_[0].row_factor;
  }

  void Reverse(const Matrix& k_bar, const Vector& mean_bar, Eigen::Ref<Vector> gradient) override {
    const ScaledData& data = model_.data();
    const Index n = data.y.size();
    PackPairs(k_bar, 2, pairs_);
    Matrix h_bar = Matrix::Zero(n, data.dimension());
    gradient[model_.mean_offset()] += mean_bar.dot(levels_[0].row_factor);
    for (int t = 0; t < data.levels(); ++t) {
      const CoKriging::Level& place = model_.level(t);
      const Index rest = data.rest(t), skipped = PairCount(n) - PairCount(rest);
      Level& at = levels_[t];
      const ArrayXd diagonal_bar = k_bar.diagonal().tail(rest);
      const ArrayXd factor = at.row_factor.array();
      ArrayXd factor_bar = 2 * (at.amplitude + at.offset) * diagonal_bar * factor;
      if (t == 0) factor_bar += theta_[model_.mean_offset()] * mean_bar.array();
      double amplitude_bar = (diagonal_bar * factor.square()).sum(), offset_bar = amplitude_bar;
      ArrayXd& s_bar = at.slope;  // becomes ∂F/∂s
      ForPairColumns(rest, [&](Index j, Index first) {
        const Index count = rest - 1 - j, begin = first + j + 1;
        const auto kernel = at.kernel.segment(begin, count);
        const ArrayXd bar = pairs_.segment(skipped + begin, count);
        const ArrayXd both = bar * factor.tail(count) * factor[j];
        amplitude_bar += (both * kernel).sum();
        offset_bar += both.sum();
        s_bar.segment(begin, count) *= at.amplitude * both;
        const ArrayXd covariance_bar = bar * (at.amplitude * kernel + at.offset);
        factor_bar[j] += (covariance_bar * factor.tail(count)).sum();
        factor_bar.tail(count) += covariance_bar * factor[j];
      });
      gradient[place.amplitude] += at.amplitude * amplitude_bar;
      if (place.offset >= 0) gradient[place.offset] += at.offset * offset_bar;
      if (place.noise >= 0) {
        gradient[place.noise] +=
            2 * std::exp(2 * theta_[place.noise]) * k_bar.diagonal().segment(data.offset[t], data.count(t)).sum();
      }
      AddLengthscales(t, s_bar, gradient);
      AddRho(t, factor_bar, gradient);
      if (model_.network().hidden == 0) continue;
      Matrix inputs_bar = Matrix::Zero(rest, data.dimension());
      AccumulatePairInputGradient(at.inputs, s_bar, inputs_bar);
      h_bar.bottomRows(rest) += inputs_bar * at.inverse.asDiagonal();
    }
    if (model_.network().hidden == 0) return;
    Vector network_bar = Vector::Zero(model_.network().size());
    model_.network().Reverse(Network(theta_), data.x, units_, h_bar, &network_bar);
    gradient.segment(model_.network_offset(), network_bar.size()) += network_bar;
  }

 private:
  struct Level {
    double amplitude = 0, offset = 0;
    Vector inverse, row_factor;
    Matrix inputs;
    ArrayXd kernel, slope;  // packed pairs
  };

  Vector Network(const Vector& theta) const { return theta.segment(model_.network_offset(), model_.network().size()); }

  void AddLengthscales(int t, const ArrayXd& s_bar, Eigen::Ref<Vector> gradient) {
    const int d = model_.data().dimension();
    Vector own = Vector::Zero(d);
    AccumulatePairLengthscaleGradient(levels_[t].inputs, s_bar, own);
    gradient.segment(model_.level(t).lengthscale, d) += own;
    if (t > 0) gradient.segment(model_.level(0).lengthscale, d) += kTie * own;
  }

  // r_ts = ρ_{t+1} ⋯ ρ_s: ∂r_ts/∂ρ_i is the product without ρ_i.
  void AddRho(int t, const ArrayXd& factor_bar, Eigen::Ref<Vector> gradient) {
    const ScaledData& data = model_.data();
    for (int s = t + 1; s < data.levels(); ++s) {
      const double bar = factor_bar.segment(data.offset[s] - data.offset[t], data.count(s)).sum();
      for (int i = t + 1; i <= s; ++i) {
        double others = 1;
        for (int j = t + 1; j <= s; ++j) others *= j == i ? 1 : theta_[model_.level(j).rho];
        gradient[model_.level(i).rho] += bar * others;
      }
    }
  }

  const CoKriging& model_;
  Vector theta_;
  Matrix h_, units_;
  ArrayXd pairs_;
  std::vector<Level> levels_;
};

class CoKrigingPrior : public GpPrior {
 public:
  CoKrigingPrior(const CoKriging& model, const Vector& theta)
      : family_(model.family()), network_(model.network()), mean_(theta[model.mean_offset()]) {
    const ScaledData& data = model.data();
    weights_ = theta.segment(model.network_offset(), network_.size());
    const Matrix h = network_.Forward(weights_, data.x, nullptr);
    for (int t = 0; t < data.levels(); ++t) {
      Level at;
      at.begin = data.offset[t];
      at.amplitude = std::exp(theta[model.level(t).amplitude]);
      at.offset = model.Offset(theta, t);
      at.inverse = model.InverseLengthscales(theta, t);
      at.factors = model.Factors(theta, t);
      at.inputs = h.bottomRows(data.rest(t)) * at.inverse.asDiagonal();
      at.row_factor.resize(data.rest(t));
      for (int s = t; s < data.levels(); ++s) {
        at.row_factor.segment(data.offset[s] - at.begin, data.count(s)).setConstant(at.factors[s - t]);
      }
      levels_.push_back(std::move(at));
    }
  }

  Vector Mean(const Matrix& z) const override {
    Vector mean(z.rows());
    for (Index i = 0; i < z.rows(); ++i) mean[i] = mean_ * levels_[0].factors[LevelOf(z, i)];
    return mean;
  }

  Vector Variance(const Matrix& z) const override {
    Vector variance = Vector::Zero(z.rows());
    for (size_t t = 0; t < levels_.size(); ++t) {
      variance += (levels_[t].amplitude + levels_[t].offset) * Factor(t, z).cwiseAbs2();
    }
    return variance;
  }

  Matrix WithData(const Matrix& z) const override {
    Matrix cross = Matrix::Zero(levels_[0].inputs.rows(), z.rows()), kernel;
    const Matrix h = network_.Forward(weights_, X(z), nullptr);
    for (size_t t = 0; t < levels_.size(); ++t) {
      const Level& at = levels_[t];
      const Vector factor = Factor(t, z);
      if (at.inputs.rows() == 0 || (factor.array() == 0).all()) continue;
      CrossKernel(family_, at.amplitude, at.inputs, h * at.inverse.asDiagonal(), kernel);
      cross.bottomRows(at.inputs.rows()) +=
          at.row_factor.asDiagonal() * (kernel.array() + at.offset).matrix() * factor.asDiagonal();
    }
    return cross;
  }

  Matrix Among(const Matrix& z) const override {
    Matrix covariance = Matrix::Zero(z.rows(), z.rows()), kernel;
    const Matrix h = network_.Forward(weights_, X(z), nullptr);
    for (size_t t = 0; t < levels_.size(); ++t) {
      const Level& at = levels_[t];
      const Vector factor = Factor(t, z);
      if ((factor.array() == 0).all()) continue;
      const Matrix inputs = h * at.inverse.asDiagonal();
      CrossKernel(family_, at.amplitude, inputs, inputs, kernel);
      covariance += factor.asDiagonal() * (kernel.array() + at.offset).matrix() * factor.asDiagonal();
    }
    return covariance;
  }

  // Mean and variance do not change with x.
  Matrix InputGradient(const Matrix& z, const Vector&, const Vector&, const Matrix& cross_bar) const override {
    Matrix units;
    const Matrix h = network_.Forward(weights_, X(z), &units);
    Matrix h_bar = Matrix::Zero(h.rows(), h.cols()), slope;
    for (size_t t = 0; t < levels_.size(); ++t) {
      const Level& at = levels_[t];
      const Index rest = at.inputs.rows();
      if (rest == 0) continue;
      const Matrix inputs = h * at.inverse.asDiagonal();
      CrossDistances(at.inputs, inputs, slope);
      ArrayXd derivative;
      EvaluateRadial(family_, slope.reshaped().array(), &derivative);
      slope = derivative.matrix().reshaped(rest, z.rows());
      slope.array() *=
          (at.amplitude * (at.row_factor.asDiagonal() * cross_bar.bottomRows(rest) * Factor(t, z).asDiagonal()))
              .array();
      Matrix inputs_bar = Matrix::Zero(h.rows(), h.cols());
      AccumulateCrossInputGradient(at.inputs, inputs, slope, inputs_bar);
      h_bar += inputs_bar * at.inverse.asDiagonal();
    }
    Matrix z_bar = Matrix::Zero(z.rows(), z.cols());
    z_bar.leftCols(h.cols()) = network_.Reverse(weights_, X(z), units, h_bar, nullptr);
    return z_bar;
  }

  std::unique_ptr<const GpPriorPath> Draw(Random& random) const override {
    return std::make_unique<Path>(*this, random);
  }

 private:
  struct Level {
    int begin = 0;
    double amplitude = 0, offset = 0;
    Vector inverse, factors, row_factor;
    Matrix inputs;
  };

  static Matrix X(const Matrix& z) { return z.leftCols(z.cols() - 1); }
  static int LevelOf(const Matrix& z, Index i) { return static_cast<int>(z(i, z.cols() - 1)); }

  // r_t s of the rows of z; 0 where the row's level s is below t.
  Vector Factor(size_t t, const Matrix& z) const {
    Vector factor(z.rows());
    for (Index i = 0; i < z.rows(); ++i) {
      const int above = LevelOf(z, i) - static_cast<int>(t);
      factor[i] = above < 0 ? 0 : levels_[t].factors[above];
    }
    return factor;
  }

  // A function δ_t for every level t.
  class Path : public GpPriorPath {
   public:
    Path(const CoKrigingPrior& prior, Random& random) : prior_(prior) {
      for (const Level& at : prior_.levels_) {
        const SpectralFactor over_x{.family = prior_.family_, .dimensions = static_cast<int>(at.inverse.size())};
        delta_.emplace_back(std::vector{over_x}, kPathWaves, random);
        offset_.push_back(std::sqrt(at.offset) * random.Normal());
      }
    }

    Vector Evaluate(const Matrix& z) const override {
      const Matrix h = prior_.network_.Forward(prior_.weights_, X(z), nullptr);
      Vector f = prior_.Mean(z);
      for (size_t t = 0; t < delta_.size(); ++t) {
        const Vector factor = prior_.Factor(t, z);
        if ((factor.array() == 0).all()) continue;
        f += factor.cwiseProduct(Delta(t, h * prior_.levels_[t].inverse.asDiagonal()));
      }
      return f;
    }

    Vector AtData() const override {
      Vector f = prior_.mean_ * prior_.levels_[0].row_factor;
      for (size_t t = 0; t < delta_.size(); ++t) {
        const Level& at = prior_.levels_[t];
        f.tail(at.inputs.rows()) += at.row_factor.cwiseProduct(Delta(t, at.inputs));
      }
      return f;
    }

   private:
    Vector Delta(size_t t, const Matrix& inputs) const {
      return (std::sqrt(prior_.levels_[t].amplitude) * delta_[t].Evaluate(inputs)).array() + offset_[t];
    }

    const CoKrigingPrior& prior_;
    std::vector<SpectralPath> delta_;
    std::vector<double> offset_;
  };

  KernelFamily family_;
  InputNetwork network_;
  double mean_;
  Vector weights_;
  std::vector<Level> levels_;
};

}  // namespace

CoKriging::CoKriging(ScaledData data, const StageForm& form)
    : data_(std::move(data)), family_(form.family), network_{.dimension = data_.dimension(), .hidden = form.hidden} {
  const int d = data_.dimension();
  centre_ = FirstLengthscalePrior(d).centre;
  for (int t = 0; t < data_.levels(); ++t) {
    const auto name = [t](const char* stem) { return absl::StrCat(stem, t); };
    Level at;
    at.lengthscale = parameters_.Add(name("ls"), d, t == 0 ? FirstLengthscalePrior(d) : DeltaLengthscalePrior(d));
    at.amplitude = parameters_.Add(name("v"), 1, t == 0 ? FirstAmplitudePrior() : DeltaAmplitudePrior());
    if (t == 0) mean_ = parameters_.Add("mu", 1, FirstMeanPrior());
    if (t > 0) at.rho = parameters_.Add(name("rh"), 1, RhoPrior());
    if (t > 0) at.offset = parameters_.Add(name("a"), 1, OffsetPrior());
    if (data_.learn_noise[t]) at.noise = parameters_.Add(name("n"), 1, NoisePrior());
    levels_.push_back(at);
  }
  network_offset_ = parameters_.size();
  const int hidden = form.hidden;
  if (hidden == 0) return;
  parameters_.Add("w", hidden * d, SlopePrior());
  parameters_.Add("b", hidden, BiasPrior());
  parameters_.Add("o", hidden * d, OutputWeightPrior());
}

std::unique_ptr<GpEvaluation> CoKriging::NewEvaluation() const { return std::make_unique<CoKrigingEvaluation>(*this); }

std::unique_ptr<const GpPrior> CoKriging::At(const Vector& theta) const {
  return std::make_unique<CoKrigingPrior>(*this, theta);
}

double CoKriging::Noise(const Vector& theta, int t) const {
  return kNoiseFloor + (levels_[t].noise < 0 ? 0 : std::exp(2 * theta[levels_[t].noise]));
}

Vector CoKriging::InverseLengthscales(const Vector& theta, int t) const {
  const int d = data_.dimension();
  const auto first = theta.segment(levels_[0].lengthscale, d).array();
  if (t == 0) return (-first).exp();
  return (-theta.segment(levels_[t].lengthscale, d).array() - kTie * (first - centre_)).exp();
}

Vector CoKriging::Factors(const Vector& theta, int t) const {
  Vector factors(data_.levels() - t);
  factors[0] = 1;
  for (Index s = 1; s < factors.size(); ++s) factors[s] = factors[s - 1] * theta[levels_[t + s].rho];
  return factors;
}

double CoKriging::Offset(const Vector& theta, int t) const {
  return levels_[t].offset < 0 ? 0 : std::exp(theta[levels_[t].offset]);
}

}  // namespace fidelio
