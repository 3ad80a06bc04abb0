#include "core/neighbour/neighbour_stack.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/parallel.h"
#include "core/gp/left_out.h"
#include "core/kernel/stationary.h"
#include "core/neighbour/local_factor.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr double kLeastVariance = 1e-12;  // of a latent function, in standardised units
constexpr int kBlock = 256;               // points that one thread works on at a time

// The points' inputs divided by lengthscales, one row each.
Matrix ScaledInputs(absl::Span<const ReachedPoint> points, const Vector& inverse) {
  Matrix inputs(static_cast<Index>(points.size()), inverse.size());
  for (Index i = 0; i < inputs.rows(); ++i) {
    for (Index d = 0; d < inputs.cols(); ++d) inputs(i, d) = points[i].x[d] * inverse[d];
  }
  return inputs;
}

// |S ∩ S'| / √(|S||S'|), and Σ over the common neighbours of weight·weight'·noise.
struct Common {
  double share = 0, noise = 0;
};
template <typename NoiseOf>
Common CommonNeighbours(const Stencil& a, const Stencil& b, const NoiseOf& noise_of) {
  Common common;
  int count = 0;
  for (size_t i = 0, j = 0; i < a.index.size() && j < b.index.size();) {
    if (a.index[i] < b.index[j]) {
      ++i;
    } else if (a.index[i] > b.index[j]) {
      ++j;
    } else {
      common.noise += a.weight[i] * b.weight[j] * noise_of(a.index[i]);
      ++count, ++i, ++j;
    }
  }
  if (count > 0) common.share = count / std::sqrt(static_cast<double>(a.index.size()) * b.index.size());
  return common;
}

}  // namespace

NeighbourLayout NeighbourStack::layout(int level) const {
  return NeighbourLayout(static_cast<int>(layers_[level].data.x.rows()), level == 0, learns_noise(level));
}

void NeighbourStack::AddData(NeighbourData data, int threads) {
  const int level = levels(), count = static_cast<int>(data.y.size());
  Layer& layer = layers_.emplace_back();
  layer.data = std::move(data);
  if (level == 0) return;
  layer.below.resize(static_cast<size_t>(count) * level);
  ParallelFor((count + kBlock - 1) / kBlock, threads, [&](int block) {
    for (int i = block * kBlock; i < std::min(count, (block + 1) * kBlock); ++i) {
      std::vector<Stencil> stencils = Reach(layer.data.x.col(i).data(), level - 1);
      std::move(stencils.begin(), stencils.end(), layer.below.begin() + static_cast<std::ptrdiff_t>(i) * level);
    }
  });
}

void NeighbourStack::Complete(KernelFamily kernel, Vector theta, int threads) {
  const int level = levels() - 1;
  Layer& layer = layers_.back();
  layer.kernel = kernel;
  layer.parameters.emplace(layout(level), theta);
  layer.theta = std::move(theta);
  const NeighbourParameters& p = *layer.parameters;
  const Matrix scaled = p.inverse.asDiagonal() * layer.data.x;
  layer.index = std::make_unique<const NeighbourIndex>(scaled);
  if (level > 0 || centres_ == 0 || count(0) <= neighbours_) return;
  Vector noise(count(0));
  for (int i = 0; i < count(0); ++i) noise[i] = Noise(0, i);
  layer.low_rank = std::make_unique<const LowRankPart>(kernel, p.amplitude, scaled, layer.data.y.array() - p.mean,
                                                       noise, neighbours_, centres_, threads);
}

double NeighbourStack::Noise(int level, int i) const {
  const Layer& layer = layers_[level];
  return layer.parameters->noise + (layer.data.noise.size() > 0 ? layer.data.noise[i] : 0);
}

double NeighbourStack::PriorMean(int level, const ReachedPoint& point) const {
  const NeighbourParameters& p = *layers_[level].parameters;
  return level == 0 ? p.mean : p.scalars.rho * point.at[level - 1].mean;
}

double NeighbourStack::PriorVariance(int level, const ReachedPoint& point) const {
  const NeighbourParameters& p = *layers_[level].parameters;
  if (level == 0) return p.amplitude;
  const Stencil& below = point.at[level - 1];
  return LinkDiagonal(p.scalars, Vector::Constant(1, below.mean), Vector::Constant(1, below.variance), p.offset)[0];
}

Matrix NeighbourStack::PriorCovariance(int level, absl::Span<const ReachedPoint> p,
                                       absl::Span<const ReachedPoint> q) const {
  const Layer& layer = layers_[level];
  const NeighbourParameters& parameters = *layer.parameters;
  const Matrix p_inputs = ScaledInputs(p, parameters.inverse), q_inputs = ScaledInputs(q, parameters.inverse);
  Matrix k;
  if (level == 0) {
    CrossKernel(layer.kernel, parameters.amplitude, p_inputs, q_inputs, k);
    return k;
  }
  Matrix rho_kernel, delta_kernel;
  CrossKernel(layer.kernel, 1, p_inputs, q_inputs, delta_kernel);
  CrossKernel(layer.kernel, 1, ScaledInputs(p, parameters.rho_inverse), ScaledInputs(q, parameters.rho_inverse),
              rho_kernel);
  const auto moments = [level](absl::Span<const ReachedPoint> points, Vector& m, Vector& v) {
    m.resize(static_cast<Index>(points.size()));
    v.resize(m.size());
    for (Index i = 0; i < m.size(); ++i) {
      m[i] = points[i].at[level - 1].mean;
      v[i] = points[i].at[level - 1].variance;
    }
  };
  Vector p_mean, p_variance, q_mean, q_variance;
  moments(p, p_mean, p_variance);
  moments(q, q_mean, q_variance);
  CrossLinkKernel(parameters.scalars, rho_kernel, delta_kernel, Matrix(), p_mean, p_variance, q_mean, q_variance,
                  Covariance(level - 1, p, q), k);
  k.array() += parameters.offset;
  return k;
}

std::vector<ReachedPoint> NeighbourStack::PointsOf(int level, const std::vector<int>& observed) const {
  std::vector<ReachedPoint> points;
  points.reserve(observed.size());
  for (const int i : observed) points.push_back(Observed(level, i));
  return points;
}

NeighbourStack::Support NeighbourStack::SupportOf(int level, std::vector<int> observed,
                                                  absl::Span<const ReachedPoint> points) const {
  Support support;
  support.observed = std::move(observed);
  support.points = PointsOf(level, support.observed);
  support.points.insert(support.points.end(), points.begin(), points.end());
  const LowRankPart* const low_rank = layers_[level].low_rank.get();
  if (low_rank == nullptr) return support;
  support.features.resize(low_rank->rank(), static_cast<Index>(support.points.size()));
  Index at = 0;
  for (const int i : support.observed) support.features.col(at++) = low_rank->features().col(i);
  for (const ReachedPoint& point : points) support.features.col(at++) = point.at[level].features;
  return support;
}

NeighbourStack::Support NeighbourStack::SupportOf(int level, absl::Span<const ReachedPoint> points) const {
  std::vector<int> observed;
  for (const ReachedPoint& point : points) {
    const std::vector<int>& index = point.at[level].index;
    observed.insert(observed.end(), index.begin(), index.end());
  }
  std::sort(observed.begin(), observed.end());
  observed.erase(std::unique(observed.begin(), observed.end()), observed.end());
  return SupportOf(level, std::move(observed), points);
}

Matrix NeighbourStack::RestCovariance(int level, const Support& p, const Support& q) const {
  Matrix k = PriorCovariance(level, p.points, q.points);
  if (p.features.rows() > 0) k.noalias() -= p.features.transpose() * q.features;
  return k;
}

Matrix NeighbourStack::ObservedCovariance(int level, const Support& observed) const {
  Matrix k = RestCovariance(level, observed, observed);
  for (size_t i = 0; i < observed.observed.size(); ++i) k(i, i) += Noise(level, observed.observed[i]);
  return k;
}

Vector NeighbourStack::Scaled(int level, const ReachedPoint& point) const {
  const Layer& layer = layers_[level];
  return layer.parameters->inverse.cwiseProduct(Eigen::Map<const Vector>(point.x, layer.data.x.rows()));
}

Stencil NeighbourStack::Solve(int level, const ReachedPoint& point, std::vector<int> index,
                              const std::vector<int>& left_out) const {
  const Layer& layer = layers_[level];
  Stencil stencil;
  stencil.index = std::move(index);
  const Support own = SupportOf(level, stencil.index, {});
  Matrix k = ObservedCovariance(level, own);
  Vector cross = PriorCovariance(level, own.points, {&point, 1});
  double prior_variance = PriorVariance(level, point);
  if (layer.low_rank != nullptr) {
    stencil.features = layer.low_rank->Features(Scaled(level, point).data());
    cross.noalias() -= own.features.transpose() * stencil.features;
    prior_variance -= stencil.features.squaredNorm();
  }
  stencil.weight = cross;
  stencil.jitter = SolveInPlace(k, stencil.weight);
  stencil.mean = PriorMean(level, point);
  for (size_t i = 0; i < own.points.size(); ++i) {
    stencil.mean += stencil.weight[i] * (layer.data.y[stencil.index[i]] - PriorMean(level, own.points[i]));
  }
  stencil.variance = std::max(prior_variance - cross.dot(stencil.weight), kLeastVariance);
  if (layer.low_rank == nullptr) return stencil;
  stencil.spread = layer.low_rank->Spread(stencil.features - own.features * stencil.weight);
  stencil.mean += stencil.spread.dot(layer.low_rank->mean());
  if (!left_out.empty()) LeaveOut(level, left_out, stencil);
  stencil.variance += stencil.spread.squaredNorm();
  return stencil;
}

// The low-rank part has learned from y_i as well. With i last in the order, P = P₋ᵢ + g gᵀ/d, b = b₋ᵢ + g e/d: without it the
// spread of g grows by 1/(1 − |spread|²/d), and the error of the mean by the same factor; not beyond the prior's. Copies are
// one observation of less noise.
void NeighbourStack::LeaveOut(int level, const std::vector<int>& left_out, Stencil& stencil) const {
  SameInput one{.y = layers_[level].data.y[left_out[0]], .noise = Noise(level, left_out[0])};
  if (left_out.size() > 1) {
    Vector noise(static_cast<Index>(left_out.size()));
    for (Index k = 0; k < noise.size(); ++k) noise[k] = Noise(level, left_out[k]);
    one = Combine(layers_[level].data.y(left_out), noise);
  }
  const double d = stencil.variance + one.noise;
  const double least = d / (layers_[level].parameters->amplitude + one.noise);
  const double kept = std::max(1 - stencil.spread.squaredNorm() / d, std::min(least, 1.0));
  stencil.mean = one.y - (one.y - stencil.mean) / kept;
  stencil.spread /= std::sqrt(kept);
}

std::vector<Stencil> NeighbourStack::Reach(const double* x, int level) const {
  std::vector<Stencil> stencils(level + 1);
  for (int t = 0; t <= level; ++t) {
    const ReachedPoint point{x, stencils.data()};
    stencils[t] = Solve(t, point, layers_[t].index->Nearest(Scaled(t, point).data(), neighbours_), {});
  }
  return stencils;
}

Stencil NeighbourStack::ReachWithout(int level, int i) const {
  NeighbourIndex::Others others = layers_[level].index->NearestOthers(i, neighbours_);
  return Solve(level, Observed(level, i), std::move(others.nearest), others.copies);
}

Matrix NeighbourStack::TimesErrors(int level, const Support& rows, absl::Span<const ReachedPoint> points,
                                   const Support& support) const {
  const Matrix k = RestCovariance(level, rows, support);
  Matrix product = k.rightCols(static_cast<Index>(points.size()));
  for (size_t j = 0; j < points.size(); ++j) {
    const Stencil& stencil = points[j].at[level];
    auto from = support.observed.begin();
    for (size_t i = 0; i < stencil.index.size(); ++i) {
      from = std::lower_bound(from, support.observed.end(), stencil.index[i]);
      product.col(static_cast<Index>(j)) -= stencil.weight[i] * k.col(from - support.observed.begin());
    }
  }
  return product;
}

Matrix NeighbourStack::Covariance(int level, absl::Span<const ReachedPoint> p, absl::Span<const ReachedPoint> q) const {
  Matrix covariance = Matrix::Zero(static_cast<Index>(p.size()), static_cast<Index>(q.size()));
  if (p.empty() || q.empty()) return covariance;
  const Support rows = SupportOf(level, p);
  const Matrix product = TimesErrors(level, rows, q, SupportOf(level, q));
  for (size_t i = 0; i < p.size(); ++i) {
    const Stencil& own = p[i].at[level];
    std::vector<Index> places;
    for (const int k : own.index) {
      places.push_back(std::lower_bound(rows.observed.begin(), rows.observed.end(), k) - rows.observed.begin());
    }
    for (size_t j = 0; j < q.size(); ++j) {
      if (p[i].at == q[j].at) {
        covariance(i, j) = own.variance;
        continue;
      }
      const Common common = CommonNeighbours(own, q[j].at[level], [&](int k) { return Noise(level, k); });
      if (common.share != 0) {
        double sum = product(static_cast<Index>(rows.observed.size() + i), j) + common.noise;
        for (size_t k = 0; k < places.size(); ++k) sum -= own.weight[k] * product(places[k], j);
        covariance(i, j) = common.share * sum;
      }
      if (own.spread.size() > 0) covariance(i, j) += own.spread.dot(q[j].at[level].spread);
    }
  }
  return covariance;
}

int64_t NeighbourStack::MemoryBytes(int64_t count, int level, int dimension, int neighbours, int centres) {
  const int64_t stencil = 12 * static_cast<int64_t>(neighbours) + 160;
  const int64_t low_rank = 8 * static_cast<int64_t>(centres) * (level == 0 ? 1 : 2);
  return count * (8 * (2 * dimension + 2) + 24 + level * stencil + low_rank);  // 24: nodes of the tree
}

// The neighbours of x count as fixed, so that only what depends on x itself moves: its prior moments, and its prior
// covariances with its neighbours S and with all that the others' errors are made of.
Vector NeighbourStack::Gradient(int level, const ReachedPoint& point, const MomentAdjoints& bar) const {
  const Layer& layer = layers_[level];
  const NeighbourParameters& parameters = *layer.parameters;
  const Stencil& stencil = point.at[level];
  const Support own = SupportOf(level, stencil.index, {}), others = SupportOf(level, bar.others);
  const Matrix product = TimesErrors(level, own, bar.others, others);

  Vector weight_bar(static_cast<Index>(own.points.size()));
  for (size_t i = 0; i < own.points.size(); ++i) {
    weight_bar[i] = bar.mean * (layer.data.y[stencil.index[i]] - PriorMean(level, own.points[i]));
  }
  Vector features_bar;
  if (layer.low_rank != nullptr) {
    Vector spread_bar = bar.mean * layer.low_rank->mean() + 2 * bar.variance * stencil.spread;
    if (bar.spread.size() > 0) {
      spread_bar += bar.spread;
    } else {
      for (size_t j = 0; j < bar.others.size(); ++j) spread_bar += bar.covariance[j] * bar.others[j].at[level].spread;
    }
    features_bar = layer.low_rank->SpreadAdjoint(spread_bar);
    weight_bar.noalias() -= own.features.transpose() * features_bar;
    features_bar -= 2 * bar.variance * stencil.features;
  }
  Vector others_bar = Vector::Zero(static_cast<Index>(others.points.size()));  // of the prior covariances with x
  for (size_t j = 0; j < bar.others.size(); ++j) {
    const Stencil& other = bar.others[j].at[level];
    const double share = CommonNeighbours(stencil, other, [](int) { return 0.0; }).share;
    const double scale = share * bar.covariance[j];
    if (scale == 0) continue;
    weight_bar -= scale * product.col(static_cast<Index>(j));
    others_bar[static_cast<Index>(others.observed.size() + j)] += scale;
    auto from = others.observed.begin();
    for (size_t k = 0; k < other.index.size(); ++k) {
      from = std::lower_bound(from, others.observed.end(), other.index[k]);
      others_bar[from - others.observed.begin()] -= scale * other.weight[k];
      const auto shared = std::lower_bound(stencil.index.begin(), stencil.index.end(), other.index[k]);
      if (shared != stencil.index.end() && *shared == other.index[k]) {
        weight_bar[shared - stencil.index.begin()] += scale * other.weight[k] * Noise(level, other.index[k]);
      }
    }
  }
  Matrix k = ObservedCovariance(level, own);
  SolveInPlace(k, weight_bar);
  weight_bar -= 2 * bar.variance * stencil.weight;
  std::vector<ReachedPoint> points = own.points;
  points.insert(points.end(), others.points.begin(), others.points.end());
  Vector centres_bar;
  if (layer.low_rank != nullptr) {
    features_bar.noalias() -= own.features * weight_bar + others.features * others_bar;
    centres_bar = layer.low_rank->FeaturesAdjoint(features_bar);
    const std::vector<ReachedPoint> centres = PointsOf(level, layer.low_rank->centres());
    points.insert(points.end(), centres.begin(), centres.end());
  }
  Matrix k_bar(static_cast<Index>(points.size()), 1);
  k_bar << weight_bar, others_bar, centres_bar;

  const auto input_gradient = [&](const Vector& inverse, double amplitude, const Matrix& adjoint) -> Vector {
    const Matrix from = ScaledInputs(points, inverse), to = ScaledInputs({&point, 1}, inverse);
    Matrix kernel, to_bar = Matrix::Zero(1, inverse.size());
    CrossDistances(from, to, kernel);
    Eigen::ArrayXd slope;
    EvaluateRadial(layer.kernel, kernel.reshaped().array(), &slope);
    AccumulateCrossInputGradient(from, to, (amplitude * slope * adjoint.array().col(0)).matrix(), to_bar);
    return inverse.cwiseProduct(to_bar.transpose());
  };
  if (level == 0) return input_gradient(parameters.inverse, parameters.amplitude, k_bar);

  const LinkScalars& s = parameters.scalars;
  Vector m(k_bar.rows()), v(k_bar.rows()), query_m(1), query_v(1);
  for (Index i = 0; i < m.size(); ++i) {
    m[i] = points[i].at[level - 1].mean;
    v[i] = points[i].at[level - 1].variance;
  }
  query_m << point.at[level - 1].mean;
  query_v << point.at[level - 1].variance;
  Matrix rho_kernel, rho_bar, c_bar;
  CrossKernel(layer.kernel, 1, ScaledInputs(points, parameters.rho_inverse),
              ScaledInputs({&point, 1}, parameters.rho_inverse), rho_kernel);
  Vector m_bar = Vector::Constant(1, s.rho * bar.mean), v_bar = Vector::Zero(1);
  ReverseLinkDiagonal(s, query_m, query_v, Vector::Constant(1, bar.variance), m_bar, v_bar);
  ReverseCrossLinkKernel(s, rho_kernel, m, v, query_m, query_v, Covariance(level - 1, points, {&point, 1}), k_bar,
                         rho_bar, c_bar, m_bar, v_bar);
  const Vector gradient =
      input_gradient(parameters.inverse, s.delta, k_bar) + input_gradient(parameters.rho_inverse, 1, rho_bar);
  return gradient + Gradient(level - 1, point,
                             {.mean = m_bar[0], .variance = v_bar[0], .others = points, .covariance = c_bar.col(0)});
}

SharedNeighbours::SharedNeighbours(int level, absl::Span<const ReachedPoint> points) {
  for (size_t i = 0; i < points.size(); ++i) {
    for (const int k : points[i].at[level].index) uses_.emplace_back(k, static_cast<int>(i));
  }
  std::sort(uses_.begin(), uses_.end());
}

std::vector<int> SharedNeighbours::Of(const Stencil& stencil, int end) const {
  std::vector<int> points;
  for (const int k : stencil.index) {
    for (auto at = std::lower_bound(uses_.begin(), uses_.end(), std::pair<int, int>{k, 0});
         at != uses_.end() && at->first == k && at->second < end; ++at) {
      points.push_back(at->second);
    }
  }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

}  // namespace fidelio
