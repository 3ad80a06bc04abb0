#include "core/baseline/chain_posterior.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/status_macros.h"
#include "core/gp/gp_paths.h"
#include "core/linalg/covariance_factor.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr int kNodes = 9;
constexpr uint32_t kLevelStream = 16;  // + level: of the seed of a sample

}  // namespace

ChainPosterior::ChainPosterior() : nodes_(kNodes), single_(1) {}

absl::Status ChainPosterior::Add(const ChainLayer& layer, const Vector& theta) {
  FIDELIO_ASSIGN_OR_RETURN(GpPosterior posterior, GpPosterior::Build(layer, theta));
  const LayerObservations& data = layer.observations();
  layers_.push_back({.kind = layer.kind(),
                     .posterior = std::move(posterior),
                     .rho = layer.Rho(theta),
                     .noise = layer.Noise(theta),
                     .x = data.inputs.leftCols(layer.dimension()),
                     .y = data.outputs,
                     .variance = data.noise.array() + layer.Noise(theta)});
  return absl::OkStatus();
}

Matrix ChainPosterior::Inputs(int level, const Matrix& x, const Vector& m, const Vector& v) const {
  if (layers_[level].kind == LayerKind::kFirst) return x;
  const Vector& node = Rule(level).node;
  const Index n = x.rows(), d = x.cols();
  Matrix z(n * node.size(), d + 1);
  for (Index s = 0; s < node.size(); ++s) {
    z.block(s * n, 0, n, d) = x;
    z.block(s * n, d, n, 1) = m + node[s] * v.cwiseSqrt();
  }
  return z;
}

ChainPosterior::Passage ChainPosterior::Pass(int level, const Matrix& x, GpPosterior::Moments below) const {
  const Layer& layer = layers_[level];
  const GpPosterior::Moments m = layer.posterior.Predict(Inputs(level, x, below.mean, below.variance));
  Passage passage{.below_mean = std::move(below.mean), .below_variance = std::move(below.variance), .of = {}};
  passage.of.mean = m.mean.reshaped(x.rows(), Rule(level).node.size()).transpose();
  passage.of.variance = m.variance.reshaped(x.rows(), Rule(level).node.size()).transpose();
  if (layer.kind == LayerKind::kLinear) {
    passage.of.variance += layer.rho * layer.rho * passage.below_variance.transpose();
  }
  return passage;
}

GpPosterior::Moments ChainPosterior::Moments(int level, const Gaussians& of) const {
  if (of.mean.rows() == 1) return {.mean = of.mean.row(0), .variance = of.variance.row(0)};
  const Vector& w = Rule(level).weight;
  GpPosterior::Moments m{.mean = of.mean.transpose() * w, .variance = of.variance.transpose() * w};
  m.variance += (of.mean.rowwise() - m.mean.transpose()).cwiseAbs2().transpose() * w;
  return m;
}

std::vector<ChainPosterior::Passage> ChainPosterior::Climb(const Matrix& x, int level) const {
  std::vector<Passage> passages;
  for (int t = 0; t <= level; ++t) {
    passages.push_back(Pass(t, x, t == 0 ? GpPosterior::Moments{} : Moments(t - 1, passages.back().of)));
  }
  return passages;
}

GpPosterior::Moments ChainPosterior::Collapsed(const Matrix& x, int level) const {
  return Moments(level, Climb(x, level).back().of);
}

ScaledPosterior::Gaussians ChainPosterior::Predict(const Matrix& x, int level) const {
  return std::move(Climb(x, level).back().of);
}

Matrix ChainPosterior::Gradient(const Matrix& x, int level, const Matrix& mean_bar, const Matrix& variance_bar) const {
  const Index n = x.rows(), d = x.cols();
  const std::vector<Passage> passages = Climb(x, level);
  Matrix x_bar = Matrix::Zero(n, d), m_bar = mean_bar, v_bar = variance_bar;  // S×n
  for (int t = level;; --t) {
    const Layer& layer = layers_[t];
    const Passage& at = passages[t];
    const Vector &node = Rule(t).node, &m = at.below_mean, &v = at.below_variance;
    const Matrix z_bar =
        layer.posterior.Gradient(Inputs(t, x, m, v), m_bar.transpose().reshaped(), v_bar.transpose().reshaped());
    for (Index s = 0; s < node.size(); ++s) x_bar += z_bar.block(s * n, 0, n, d);
    if (t == 0) return x_bar;
    // Through f_s = m + √v ξ_s, and what a linear layer adds, to the moments of the level below …
    Vector mean = Vector::Zero(n), variance = Vector::Zero(n);
    for (Index s = 0; s < node.size(); ++s) {
      const auto f_bar = z_bar.block(s * n, d, n, 1).col(0);
      mean += f_bar;
      variance.array() += 0.5 * node[s] * f_bar.array() / v.array().sqrt();
    }
    if (layer.kind == LayerKind::kLinear) variance += layer.rho * layer.rho * v_bar.row(0).transpose();
    // … and from those to the Gaussians that they are the moments of.
    const Vector& w = Rule(t - 1).weight;
    const Gaussians& below = passages[t - 1].of;
    m_bar = w * mean.transpose();
    v_bar = w * variance.transpose();
    m_bar.array() += 2 * v_bar.array() * (below.mean.rowwise() - m.transpose()).array();
  }
}

void ChainPosterior::Lift(int level, const Matrix& x, const std::vector<int>& levels, JointGaussian& joint) const {
  const Layer& layer = layers_[level];
  std::vector<Index> up;  // the rows that go on
  for (size_t i = 0; i < levels.size(); ++i) {
    if (levels[i] >= level) up.push_back(static_cast<Index>(i));
  }
  const Matrix own = x(up, Eigen::all);
  const Vector m = joint.mean(up), sd = joint.covariance.diagonal().cwiseSqrt();
  const Vector v = sd(up).cwiseAbs2();
  const NormalQuadrature& rule = Rule(level);
  const Index n = own.rows(), count = rule.node.size();
  const Matrix z = Inputs(level, own, m, v);
  const Matrix mean = layer.posterior.Predict(z).mean.reshaped(n, count);
  joint.mean(up) = mean * rule.weight;

  if (layer.kind == LayerKind::kLinear) {
    Vector factor = Vector::Ones(sd.size());
    for (const Index i : up) factor[i] = layer.rho;
    joint.covariance = factor.asDiagonal() * joint.covariance * factor.asDiagonal();
  } else {
    const Vector inverse = sd.cwiseInverse();
    const Matrix correlation = inverse.asDiagonal() * joint.covariance * inverse.asDiagonal();
    const Matrix coefficients = mean * rule.weight.asDiagonal() * HermitePolynomials(rule.node).transpose();  // n×K
    Vector c = sd;
    c(up) = coefficients.col(1);
    joint.covariance = c.asDiagonal() * correlation * c.asDiagonal();
    Matrix power = correlation(up, up);
    const Matrix own_correlation = power;
    Matrix higher = Matrix::Zero(n, n);
    for (Index k = 2; k < count; ++k) {
      power.array() *= own_correlation.array();
      higher += coefficients.col(k).asDiagonal() * power * coefficients.col(k).asDiagonal();
    }
    joint.covariance(up, up) += higher;
  }
  Matrix residual = Matrix::Zero(n, n);
  for (Index s = 0; s < count; ++s) residual += rule.weight[s] * layer.posterior.Covariance(z.middleRows(s * n, n));
  joint.covariance(up, up) += residual;
}

absl::StatusOr<ScaledPosterior::JointGaussian> ChainPosterior::Joint(const Matrix& x, const std::vector<int>& levels,
                                                                     const std::function<absl::Status()>& check) const {
  if (check) FIDELIO_RETURN_IF_ERROR(check());
  JointGaussian joint{.mean = layers_[0].posterior.Predict(x).mean, .covariance = layers_[0].posterior.Covariance(x)};
  const int top = levels.empty() ? 0 : *std::max_element(levels.begin(), levels.end());
  for (int t = 1; t <= top; ++t) {
    if (check) FIDELIO_RETURN_IF_ERROR(check());
    Lift(t, x, levels, joint);
  }
  return joint;
}

absl::StatusOr<Matrix> ChainPosterior::Sample(const Matrix& x, int level, int count, uint64_t seed, int threads) const {
  const bool gaussian = std::none_of(layers_.begin(), layers_.begin() + level + 1,
                                     [](const Layer& layer) { return layer.kind == LayerKind::kNonlinear; });
  if (gaussian) {
    FIDELIO_ASSIGN_OR_RETURN(JointGaussian joint, Joint(x, std::vector<int>(x.rows(), level), nullptr));
    return SampleGaussian(std::move(joint), count, seed);
  }
  const Index n = x.rows();
  JointGaussian first{.mean = layers_[0].posterior.Predict(x).mean, .covariance = layers_[0].posterior.Covariance(x)};
  FIDELIO_ASSIGN_OR_RETURN(Matrix paths, SampleGaussian(std::move(first), count, seed));
  std::vector<absl::Status> statuses(count);
  ParallelFor(count, threads, [&](int i) {
    Matrix z(n, x.cols() + 1);
    z.leftCols(x.cols()) = x;
    for (int t = 1; t <= level && statuses[i].ok(); ++t) {
      z.rightCols(1) = paths.row(i).transpose();
      Matrix factor = layers_[t].posterior.Covariance(z);
      statuses[i] = FactoriseCovariance(factor, "covariance of sampled inputs");
      Random random(seed, kLevelStream + static_cast<uint32_t>(t), static_cast<uint32_t>(i));
      paths.row(i) =
          (layers_[t].posterior.Predict(z).mean + factor * random.NormalVector(static_cast<int>(factor.cols())))
              .transpose();
    }
  });
  for (const absl::Status& status : statuses) FIDELIO_RETURN_IF_ERROR(status);
  return paths;
}

// f_0(x), and f_t(x) = g_t(x, f_{t−1}(x)) with a function g_t of every layer.
class ChainPosterior::Paths : public ScaledPaths {
 public:
  Paths(const ChainPosterior& chain, int level, std::vector<Random> random) {
    for (int t = 0; t <= level; ++t) layers_.emplace_back(chain.layers_[t].posterior, random);
  }

  Matrix Evaluate(const Matrix& x) const override {
    Matrix f = layers_[0].Evaluate(x), z(x.rows(), x.cols() + 1);
    z.leftCols(x.cols()) = x;
    for (size_t t = 1; t < layers_.size(); ++t) {
      for (Index i = 0; i < f.cols(); ++i) {
        z.rightCols(1) = f.col(i);
        f.col(i) = layers_[t].Evaluate(z, static_cast<size_t>(i));
      }
    }
    return f;
  }

 private:
  std::vector<GpPaths> layers_;
};

std::unique_ptr<const ScaledPaths> ChainPosterior::Draw(int level, std::vector<Random> random) const {
  return std::make_unique<Paths>(*this, level, std::move(random));
}

ScaledPosterior::Gaussians ChainPosterior::LeaveOneOut(int level) const {
  const Layer& layer = layers_[level];
  const Index n = layer.y.size(), count = Rule(level).node.size();
  if (n == 0) return {.mean = Matrix(count, 0), .variance = Matrix(count, 0)};
  if (layer.kind != LayerKind::kNonlinear) {
    const GpPosterior::Moments m = layer.posterior.LeaveOneOut(0, static_cast<int>(n));
    Gaussians result{.mean = m.mean.transpose(), .variance = m.variance.transpose()};
    if (level > 0) result.variance += layer.rho * layer.rho * Collapsed(layer.x, level - 1).variance.transpose();
    return result;
  }
  const GpPosterior::Moments below = Collapsed(layer.x, level - 1);
  const Eigen::VectorXi own = Eigen::VectorXi::LinSpaced(n, 0, static_cast<int>(n) - 1).replicate(count, 1);
  const GpPosterior::Moments m =
      layer.posterior.PredictWithout(Inputs(level, layer.x, below.mean, below.variance), own);
  Gaussians result{.mean = m.mean.reshaped(n, count).transpose(),
                   .variance = m.variance.reshaped(n, count).transpose()};
  result.variance.rowwise() += layer.variance.transpose();
  return result;
}

double ChainPosterior::max_jitter() const {
  double jitter = 0;
  for (const Layer& layer : layers_) jitter = std::max(jitter, layer.posterior.jitter());
  return jitter;
}

int64_t ChainPosterior::MemoryBytes() const {
  int64_t bytes = 0;
  for (const Layer& layer : layers_) bytes += layer.posterior.MemoryBytes();
  return bytes;
}

}  // namespace fidelio
