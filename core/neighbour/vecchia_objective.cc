#include "core/neighbour/vecchia_objective.h"

#include <algorithm>
#include <cmath>

#include "core/base/normal.h"
#include "core/base/parallel.h"
#include "core/kernel/stationary.h"
#include "core/linalg/packed.h"
#include "core/neighbour/local_factor.h"

namespace fidelio {

using Eigen::ArrayXd;
using Eigen::Index;

constexpr int kChunk = 32;  // conditionals that are summed together

struct VecchiaObjective::Scratch {
  Matrix inputs, rho_inputs, k, right;
  ArrayXd pairs, slope, rho_slope, pairs_bar, kernel_bar, rho_bar;
  LinkInputs link_inputs;
  LinkKernel link;
  Vector prior, diagonal, diagonal_bar, m_bar, v_bar;
  ArrayXd c_bar;
};

VecchiaObjective::VecchiaObjective(const NeighbourStack& stack, KernelFamily kernel,
                                   const std::vector<std::vector<int>>& sets, int threads)
    : kernel_(kernel),
      layout_(stack.layout(stack.levels() - 1)),
      threads_(threads),
      centres_(layout_.parameters.Centres()),
      scales_(layout_.parameters.Scales()),
      conditionals_(sets.size()) {
  const int level = stack.levels() - 1;
  const NeighbourData& data = stack.data(level);
  ParallelFor(static_cast<int>(sets.size()), threads, [&](int k) {
    const std::vector<int>& set = sets[k];
    Conditional& to = conditionals_[k];
    to.x = data.x(Eigen::all, set).transpose();
    to.y = data.y(set);
    to.noise = Vector::Zero(to.y.size());
    if (data.noise.size() > 0) to.noise = data.noise(set);
    if (level == 0) return;
    std::vector<ReachedPoint> points;
    for (const int i : set) points.push_back(stack.Observed(level, i));
    to.m.resize(to.y.size());
    to.v.resize(to.y.size());
    for (size_t i = 0; i < points.size(); ++i) {
      to.m[i] = points[i].at[level - 1].mean;
      to.v[i] = points[i].at[level - 1].variance;
    }
    PackPairs(stack.Covariance(level - 1, points, points), 1, to.c);
  });
}

bool VecchiaObjective::Add(const Conditional& of, const Vector& theta, const NeighbourParameters& p, Scratch& s,
                           double& value, Vector* gradient) const {
  const Index n = of.y.size(), m = n - 1;
  s.inputs = of.x * p.inverse.asDiagonal();
  PairDistances(s.inputs, s.pairs);
  EvaluateRadial(kernel_, s.pairs, &s.slope);
  s.kernel_bar = s.pairs;  // κ; later ∂F/∂κ
  if (layout_.first) {
    s.pairs *= p.amplitude;
    s.prior.setConstant(n, p.mean);
    s.diagonal.setConstant(n, p.amplitude);
  } else {
    s.link_inputs.delta_kernel = s.pairs;
    s.rho_inputs = of.x * p.rho_inverse.asDiagonal();
    PairDistances(s.rho_inputs, s.link_inputs.rho_kernel);
    EvaluateRadial(kernel_, s.link_inputs.rho_kernel, &s.rho_slope);
    s.link.Forward(p.scalars, s.link_inputs, Vector(), of.m, of.v, of.c);
    s.pairs = s.link.pairs() + p.offset;
    s.prior = p.scalars.rho * of.m;
    s.diagonal = s.link.diagonal().array() + p.offset;
  }
  s.diagonal += of.noise;
  s.diagonal.array() += p.noise;

  // Pairs (i, 0) come first: c. The rest, column by column, is K.
  s.k.resize(m, m);
  s.k.diagonal() = s.diagonal.tail(m);
  ForPairColumns(m, [&](Index j, Index first) {
    for (Index i = j + 1; i < m; ++i) s.k(i, j) = s.pairs[m + first + i];
  });
  s.right.resize(m, 2);  // K⁻¹ (y − prior), K⁻¹ c
  s.right.col(0) = (of.y - s.prior).tail(m);
  s.right.col(1) = s.pairs.head(m);
  if (FactoriseInPlace(s.k) < 0) return false;
  s.k.triangularView<Eigen::Lower>().solveInPlace(s.right);
  s.k.triangularView<Eigen::Lower>().transpose().solveInPlace(s.right);
  const auto alpha = s.right.col(0), b = s.right.col(1);
  const double w = s.diagonal[0] - s.pairs.head(m).matrix().dot(b);
  const double r = of.y[0] - s.prior[0] - s.pairs.head(m).matrix().dot(alpha);
  if (!(w > 0)) return false;
  value += 0.5 * (std::log(w) + kLogTwoPi + r * r / w);
  if (gradient == nullptr) return true;

  Vector& g = *gradient;
  const double mean_bar = -r / w, w_bar = 0.5 / w - 0.5 * r * r / (w * w);
  s.pairs_bar.resize(s.pairs.size());
  s.pairs_bar.head(m) = (mean_bar * alpha - 2 * w_bar * b).array();
  ForPairColumns(m, [&](Index j, Index first) {
    const double alpha_j = -mean_bar * b[j], b_j = 2 * w_bar * b[j] - mean_bar * alpha[j];
    for (Index i = j + 1; i < m; ++i) s.pairs_bar[m + first + i] = alpha_j * alpha[i] + b_j * b[i];
  });
  s.diagonal_bar.resize(n);
  s.diagonal_bar[0] = w_bar;
  s.diagonal_bar.tail(m) = w_bar * b.array().square() - mean_bar * b.array() * alpha.array();
  if (layout_.noise >= 0) g[layout_.noise] += s.diagonal_bar.sum() * 2 * std::exp(2 * theta[layout_.noise]);
  const Index d = layout_.dimension;
  if (layout_.first) {
    g[layout_.mean] += mean_bar * (1 - b.sum());
    g[layout_.amplitude] += p.amplitude * ((s.pairs_bar * s.kernel_bar).sum() + s.diagonal_bar.sum());
    s.kernel_bar = p.amplitude * s.pairs_bar * s.slope;
    AccumulatePairLengthscaleGradient(s.inputs, s.kernel_bar, g.segment(layout_.lengthscale, d));
    return true;
  }
  g[layout_.offset] += p.offset * (s.pairs_bar.sum() + s.diagonal_bar.sum());
  g[layout_.rho] += mean_bar * (of.m[0] - b.dot(of.m.tail(m)));
  LinkScalarGradient scalars_bar;
  s.kernel_bar.setZero(s.pairs.size());
  s.rho_bar.setZero(s.pairs.size());
  s.link.Reverse(s.link_inputs, Vector(), of.m, of.v, of.c, s.pairs_bar, s.diagonal_bar, s.rho_bar, s.kernel_bar,
                 scalars_bar, s.m_bar, s.v_bar, s.c_bar);
  for (int k = 0; k < kLinkParameters; ++k) g[layout_.terms + k] += scalars_bar.terms[k];
  g[layout_.delta] += scalars_bar.delta;
  g[layout_.rho] += scalars_bar.rho;
  s.kernel_bar *= s.slope;
  s.rho_bar *= s.rho_slope;
  AccumulatePairLengthscaleGradient(s.inputs, s.kernel_bar, g.segment(layout_.delta_lengthscale, d));
  AccumulatePairLengthscaleGradient(s.rho_inputs, s.rho_bar, g.segment(layout_.rho_lengthscale, d));
  return true;
}

bool VecchiaObjective::Sum(const Vector& theta, double* value, Vector* gradient) const {
  const NeighbourParameters p(layout_, theta);
  const int count = static_cast<int>(conditionals_.size()), chunks = (count + kChunk - 1) / kChunk;
  Vector values = Vector::Zero(chunks);
  std::vector<Vector> gradients(gradient != nullptr ? chunks : 0, Vector::Zero(theta.size()));
  std::vector<char> good(chunks, 1);
  ParallelFor(chunks, threads_, [&](int chunk) {
    Scratch scratch;
    for (int k = chunk * kChunk; k < std::min(count, (chunk + 1) * kChunk) && good[chunk]; ++k) {
      good[chunk] = Add(conditionals_[k], theta, p, scratch, values[chunk], gradient ? &gradients[chunk] : nullptr);
    }
  });
  *value = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    if (!good[chunk]) return false;
    *value += values[chunk];
    if (gradient != nullptr) *gradient += gradients[chunk];
  }
  return true;
}

double VecchiaObjective::NegativeLogLikelihood(const Vector& theta) {
  double value;
  return Sum(theta, &value, nullptr) ? value : std::numeric_limits<double>::infinity();
}

bool VecchiaObjective::Evaluate(const Vector& z, double* value, Vector* gradient) {
  const Vector theta = Theta(z);
  Vector g = Vector::Zero(z.size());
  if (!Sum(theta, value, gradient != nullptr ? &g : nullptr)) return false;
  *value += layout_.parameters.NegativeLogPrior(theta, g);
  if (gradient != nullptr) {
    *gradient = g.cwiseProduct(scales_);
    if (!gradient->allFinite()) return false;
  }
  return std::isfinite(*value);
}

}  // namespace fidelio
