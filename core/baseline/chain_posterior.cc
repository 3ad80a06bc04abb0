#include "core/baseline/chain_posterior.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/random_streams.h"
#include "core/base/status_macros.h"
#include "core/baseline/draw_paths.h"
#include "core/emulator/leave_one_out_weights.h"
#include "core/emulator/mixture.h"
#include "core/gp/gaussian_samples.h"
#include "core/gp/left_out.h"
#include "core/linalg/covariance_factor.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr int kNodes = 9;

}  // namespace

ChainPosterior::ChainPosterior() : nodes_(kNodes), single_(1) {}

absl::Status ChainPosterior::Add(const std::vector<LayerDraw>& draws) {
  const ChainLayer& first = *draws.front().layer;
  Layer added{.kind = first.kind(),
              .parts = {},
              .weight = Vector(static_cast<Index>(draws.size())),
              .component_weight = {},
              .noise = {},
              .x = first.observations().inputs.leftCols(first.dimension()),
              .y = first.observations().outputs,
              .copies = {}};
  added.copies = FindEqualRows(added.x);
  Vector noises(added.weight.size());
  for (const LayerDraw& draw : draws) {
    FIDELIO_ASSIGN_OR_RETURN(GpPosterior posterior, GpPosterior::Build(*draw.layer, draw.theta));
    const double noise = draw.layer->Noise(draw.theta);
    added.weight[static_cast<Index>(added.parts.size())] = draw.weight;
    noises[static_cast<Index>(added.parts.size())] = noise;
    added.parts.push_back({.posterior = std::move(posterior),
                           .rho = draw.layer->Rho(draw.theta),
                           .variance = first.observations().noise.array() + noise});
  }
  const Vector& node_weight = added.kind == LayerKind::kNonlinear ? nodes_.weight : single_.weight;
  added.component_weight = (node_weight * added.weight.transpose()).reshaped();
  added.noise = noises.transpose().replicate(node_weight.size(), 1).reshaped();
  layers_.push_back(std::move(added));
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
  const Matrix z = Inputs(level, x, below.mean, below.variance);
  const Index nodes = Rule(level).node.size(), components = layer.component_weight.size();
  Passage passage{.below_mean = std::move(below.mean),
                  .below_variance = std::move(below.variance),
                  .of = {.mean = Matrix(components, x.rows()), .variance = Matrix(components, x.rows())}};
  for (size_t k = 0; k < layer.parts.size(); ++k) {
    const Part& part = layer.parts[k];
    const Index row = static_cast<Index>(k) * nodes;
    const GpPosterior::Moments m = part.posterior.Predict(z);
    passage.of.mean.middleRows(row, nodes) = m.mean.reshaped(x.rows(), nodes).transpose();
    passage.of.variance.middleRows(row, nodes) = m.variance.reshaped(x.rows(), nodes).transpose();
    if (layer.kind == LayerKind::kLinear) {
      passage.of.variance.row(row) += part.rho * part.rho * passage.below_variance.transpose();
    }
  }
  return passage;
}

GpPosterior::Moments ChainPosterior::Moments(int level, const Gaussians& of) const {
  if (of.mean.rows() == 1) return {.mean = of.mean.row(0), .variance = of.variance.row(0)};
  const Vector& w = layers_[level].component_weight;
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

Posterior::Gaussians ChainPosterior::Predict(const Matrix& x, int level) const {
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
    const Index nodes = node.size();
    const Matrix z = Inputs(t, x, m, v);
    Matrix z_bar = Matrix::Zero(z.rows(), z.cols());
    Vector mean = Vector::Zero(n), variance = Vector::Zero(n);
    for (size_t k = 0; k < layer.parts.size(); ++k) {
      const Part& part = layer.parts[k];
      const Index row = static_cast<Index>(k) * nodes;
      z_bar += part.posterior.Gradient(z, m_bar.middleRows(row, nodes).transpose().reshaped(),
                                       v_bar.middleRows(row, nodes).transpose().reshaped());
      if (layer.kind == LayerKind::kLinear) variance += part.rho * part.rho * v_bar.row(row).transpose();
    }
    for (Index s = 0; s < nodes; ++s) x_bar += z_bar.block(s * n, 0, n, d);
    if (t == 0) return x_bar;
    // Through f_s = m + √v ξ_s to the moments of the level below …
    for (Index s = 0; s < nodes; ++s) {
      const auto f_bar = z_bar.block(s * n, d, n, 1).col(0);
      mean += f_bar;
      variance.array() += 0.5 * node[s] * f_bar.array() / v.array().sqrt();
    }
    // … and from those to the Gaussians that they are the moments of.
    const Vector& w = layers_[t - 1].component_weight;
    const Gaussians& below = passages[t - 1].of;
    m_bar = w * mean.transpose();
    v_bar = w * variance.transpose();
    m_bar.array() += 2 * v_bar.array() * (below.mean.rowwise() - m.transpose()).array();
  }
}

Posterior::JointGaussian ChainPosterior::First(const Matrix& x) const {
  const Layer& layer = layers_[0];
  JointGaussian joint{.mean = {}, .covariance = Matrix::Zero(x.rows(), x.rows())};
  Matrix means(x.rows(), layer.weight.size());
  for (Index k = 0; k < layer.weight.size(); ++k) {
    means.col(k) = layer.parts[k].posterior.Predict(x).mean;
    joint.covariance += layer.weight[k] * layer.parts[k].posterior.Covariance(x);
  }
  joint.mean = means * layer.weight;
  means.colwise() -= joint.mean;
  joint.covariance += means * layer.weight.asDiagonal() * means.transpose();
  return joint;
}

absl::Status ChainPosterior::Lift(int level, const Matrix& x, const std::vector<int>& levels,
                                  const JointOptions& options, JointGaussian& joint) const {
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
  const Vector inverse = sd.cwiseInverse();
  const Matrix correlation = inverse.asDiagonal() * joint.covariance * inverse.asDiagonal();
  const Matrix own_correlation = correlation(up, up);

  Matrix means(n, layer.weight.size());  // of f, one column per draw
  Vector c_mean = sd;                    // E_k[c_1k]: what ties these rows to those of lower levels
  c_mean(up).setZero();
  Matrix covariance = Matrix::Zero(n, n);  // of the rows that go on
  for (Index k = 0; k < layer.weight.size(); ++k) {
    if (options.check) FIDELIO_RETURN_IF_ERROR(options.check());
    const Part& part = layer.parts[k];
    const double weight = layer.weight[k];
    const Matrix mean = part.posterior.Predict(z).mean.reshaped(n, count);
    means.col(k) = mean * rule.weight;
    Matrix coefficients(n, count);
    if (layer.kind == LayerKind::kLinear) {
      coefficients.col(0) = part.rho * sd(up);  // c_1, the only one
    } else {
      coefficients = mean * rule.weight.asDiagonal() * HermitePolynomials(rule.node).transpose();
    }
    const Index first = layer.kind == LayerKind::kLinear ? 0 : 1;
    for (size_t i = 0; i < up.size(); ++i) c_mean[up[i]] += weight * coefficients(static_cast<Index>(i), first);
    Matrix power = own_correlation;
    for (Index j = first; j < count; ++j) {
      covariance += weight * (coefficients.col(j).asDiagonal() * power * coefficients.col(j).asDiagonal());
      power.array() *= own_correlation.array();
    }
    for (Index s = 0; s < count; ++s) {
      covariance += (weight * rule.weight[s]) * part.posterior.Covariance(z.middleRows(s * n, n));
    }
  }
  const Vector mean = means * layer.weight;
  joint.mean(up) = mean;
  means.colwise() -= mean;
  covariance += means * layer.weight.asDiagonal() * means.transpose();
  joint.covariance = c_mean.asDiagonal() * correlation * c_mean.asDiagonal();
  joint.covariance(up, up) = covariance;
  return absl::OkStatus();
}

absl::StatusOr<Posterior::JointGaussian> ChainPosterior::Joint(const Matrix& x, const std::vector<int>& levels,
                                                               const JointOptions& options) const {
  if (options.check) FIDELIO_RETURN_IF_ERROR(options.check());
  JointGaussian joint = First(x);
  const int top = levels.empty() ? 0 : *std::max_element(levels.begin(), levels.end());
  for (int t = 1; t <= top; ++t) FIDELIO_RETURN_IF_ERROR(Lift(t, x, levels, options, joint));
  return joint;
}

absl::StatusOr<Matrix> ChainPosterior::Sample(const Matrix& x, int level, const SampleRequest& request) const {
  const Index n = x.rows();
  const int count = request.count;
  const uint64_t seed = request.seed;
  Matrix paths(count, n), own(count, n);
  for (int t = 0; t <= level; ++t) {
    const Layer& layer = layers_[t];
    const uint32_t stream = StreamOf(RandomUse::kPathNormal, static_cast<uint32_t>(t));
    const std::vector<std::vector<int>> samples =
        SamplesOfDraws(layer.weight, count, seed, StreamOf(RandomUse::kPathComponent, static_cast<uint32_t>(t)));
    for (size_t k = 0; k < samples.size(); ++k) {
      if (samples[k].empty()) continue;
      const GpPosterior& posterior = layer.parts[k].posterior;
      if (layer.kind != LayerKind::kNonlinear) {
        // Linear in f: δ is the same whatever f is.
        const Matrix z = Inputs(t, x, Vector::Zero(n), Vector::Zero(n));
        FIDELIO_RETURN_IF_ERROR(
            SampleGaussian(posterior.Predict(z).mean, posterior.Covariance(z), samples[k], seed, stream, own));
        for (const int i : samples[k]) {
          paths.row(i) = t == 0 ? own.row(i) : (own.row(i) + layer.parts[k].rho * paths.row(i)).eval();
        }
        continue;
      }
      std::vector<absl::Status> statuses(samples[k].size());
      ParallelFor(static_cast<int>(samples[k].size()), request.options.threads, [&](int at) {
        const int i = samples[k][at];
        Matrix z(n, x.cols() + 1);
        z.leftCols(x.cols()) = x;
        z.rightCols(1) = paths.row(i).transpose();
        Matrix factor = posterior.Covariance(z);
        statuses[at] = FactoriseCovariance(factor, "covariance of sampled inputs");
        Random random(seed, stream, static_cast<uint32_t>(i));
        paths.row(i) =
            (posterior.Predict(z).mean + factor * random.NormalVector(static_cast<int>(factor.cols()))).transpose();
      });
      for (const absl::Status& status : statuses) FIDELIO_RETURN_IF_ERROR(status);
    }
  }
  if (request.noise.size() > 0) AddNoise(Weights(level).dot(request.noise), seed, paths);
  return paths;
}

// f_0(x), and f_t(x) = g_t(x, f_{t−1}(x)) with a function g_t of every layer, which follows one of its draws.
class ChainPosterior::Paths : public Functions {
 public:
  Paths(const ChainPosterior& chain, int level, std::vector<Random> random) : chain_(chain) {
    for (int t = 0; t <= level; ++t) {
      std::vector<const GpPosterior*> draws;
      for (const Part& part : chain.layers_[t].parts) draws.push_back(&part.posterior);
      layers_.emplace_back(draws, chain.layers_[t].weight, random);
    }
  }

  Matrix Evaluate(const Matrix& x, Vector* mean) const override {
    if (mean != nullptr) *mean = chain_.Collapsed(x, static_cast<int>(layers_.size()) - 1).mean;
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
  const ChainPosterior& chain_;
  std::vector<DrawPaths> layers_;
};

std::unique_ptr<const Posterior::Functions> ChainPosterior::Draw(const PathOptions& options) const {
  return std::make_unique<Paths>(*this, options.level, FunctionRandoms(options));
}

absl::StatusOr<Posterior::LeftOut> ChainPosterior::LeaveOneOut(const FittedState&, int level, int) const {
  const Layer& layer = layers_[level];
  const Index n = layer.y.size(), count = Rule(level).node.size(), components = layer.component_weight.size();
  const Matrix empty(components, n);
  LeftOut result{.mean = empty, .variance = empty, .weight = empty};
  if (n == 0) return result;
  GpPosterior::Moments below;
  if (level > 0) below = Collapsed(layer.x, level - 1);
  Matrix log_density(layer.weight.size(), n);
  std::vector<std::vector<int>> groups(static_cast<size_t>(layer.copies.count));
  for (Index i = 0; i < n; ++i) groups[layer.copies.group[i]].push_back(static_cast<int>(i));
  std::vector<int> left_out;  // per row of Inputs, a group
  for (Index s = 0; s < count; ++s)
    left_out.insert(left_out.end(), layer.copies.group.begin(), layer.copies.group.end());
  for (Index k = 0; k < layer.weight.size(); ++k) {
    const Part& part = layer.parts[k];
    auto mean = result.mean.middleRows(k * count, count);
    auto variance = result.variance.middleRows(k * count, count);
    if (layer.kind != LayerKind::kNonlinear) {
      const auto m = part.posterior.LeaveOneOut(0, static_cast<int>(n), layer.copies.copies);
      mean = m.mean.transpose();
      variance = m.variance.transpose();
      if (level > 0) variance += part.rho * part.rho * below.variance.transpose();
    } else {
      const GpPosterior::Moments m =
          part.posterior.PredictWithout(Inputs(level, layer.x, below.mean, below.variance), groups, left_out);
      mean = m.mean.reshaped(n, count).transpose();
      variance = m.variance.reshaped(n, count).transpose();
      variance.rowwise() += part.variance.transpose();
    }
    log_density.row(k) =
        MixtureLogDensity({.weight = Rule(level).weight, .mean = mean, .variance = variance}, layer.y).transpose();
    // Copies are left out together, so that what counts is the density of all of them.
    for (const std::vector<int>& group : layer.copies.copies) {
      const SameInput one = Combine(layer.y(group), part.variance(group));
      const int i = group[0];
      const Matrix f = (variance.col(i).array() - part.variance[i]).max(0) + one.noise;
      const Mixture at{.weight = Rule(level).weight, .mean = mean.col(i), .variance = f};
      const double density = MixtureLogDensity(at, Vector::Constant(1, one.y))[0] + one.log_density_within;
      log_density.row(k)(group).setConstant(density);
    }
  }
  for (Index i = 0; i < n; ++i) {
    const Vector weight = WeightsWithout(layer.weight, log_density.col(i));
    result.weight.col(i) = (Rule(level).weight * weight.transpose()).reshaped();
  }
  return result;
}

Vector ChainPosterior::LogLikelihoods(int stage) const {
  const Layer& layer = layers_[stage];
  Vector result(layer.weight.size());
  for (Index k = 0; k < result.size(); ++k) result[k] = layer.parts[k].posterior.log_likelihood();
  return result;
}

double ChainPosterior::max_jitter() const {
  double jitter = 0;
  for (const Layer& layer : layers_) {
    for (const Part& part : layer.parts) jitter = std::max(jitter, part.posterior.jitter());
  }
  return jitter;
}

int64_t ChainPosterior::FactorBytes() const {
  int64_t bytes = 0;
  for (const Layer& layer : layers_) {
    for (const Part& part : layer.parts) bytes += part.posterior.MemoryBytes();
  }
  return bytes;
}

}  // namespace fidelio
