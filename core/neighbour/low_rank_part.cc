#include "core/neighbour/low_rank_part.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/random_streams.h"
#include "core/kernel/stationary.h"
#include "core/linalg/pivoted_cholesky.h"
#include "core/neighbour/local_factor.h"
#include "core/neighbour/vecchia_sets.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr int kMostLearned = 4096;      // observations that tell about v
constexpr int kObservationBlock = 256;  // observations that one thread works on at a time
constexpr double kLeastResidualVariance = 1e-12;
constexpr double kNothingLeft = 1e-12;  // of the prior's variance, on average: more centres would only add rounding
constexpr uint64_t kOrderSeed = 0;      // a model that is loaded must find the same
constexpr int kMostCentres = 512, kFewestCentres = 16, kFewestDimensions = 3;
constexpr int64_t kMostNumbers = int64_t{1} << 25;  // 256 MiB

// All numbers below n, or so many of them at random; ascending.
std::vector<int> Some(int n, int most) {
  std::vector<int> rows(n);
  std::iota(rows.begin(), rows.end(), 0);
  if (n <= most) return rows;
  Random random(kOrderSeed, StreamOf(RandomUse::kLowRankSubset));
  for (int i = 0; i < most; ++i) {
    std::swap(rows[i], rows[i + static_cast<size_t>(random.NextBits() % static_cast<uint64_t>(n - i))]);
  }
  rows.resize(most);
  std::sort(rows.begin(), rows.end());
  return rows;
}

int Blocks(Index n) { return static_cast<int>((n + kObservationBlock - 1) / kObservationBlock); }

}  // namespace

LowRankPart::LowRankPart(KernelFamily kernel, double amplitude, const Matrix& points, const Vector& y,
                         const Vector& noise, int neighbours, int most, int threads)
    : kernel_(kernel), amplitude_(amplitude) {
  const std::vector<int> rows = Some(static_cast<int>(points.cols()), kMostLearned);
  FindCentres(points, rows, most, threads);
  features_.resize(rank(), points.cols());
  ParallelFor(Blocks(points.cols()), threads, [&](int b) {
    const Index begin = static_cast<Index>(b) * kObservationBlock,
                n = std::min<Index>(kObservationBlock, points.cols() - begin);
    Matrix k;
    CrossKernel(kernel_, amplitude_, inputs_, points.middleCols(begin, n).transpose(), k);
    root_.triangularView<Eigen::Lower>().solveInPlace(k);
    features_.middleCols(begin, n) = k;
  });
  Learn(points, rows, y, noise, neighbours, threads);
}

void LowRankPart::FindCentres(const Matrix& points, const std::vector<int>& rows, int most, int threads) {
  const Matrix inputs = points(Eigen::all, rows).transpose();
  PivotedCholesky pivoted(
      Vector::Constant(inputs.rows(), amplitude_),
      [&](Index i, Eigen::Ref<Vector> column) {
        Matrix k;
        CrossKernel(kernel_, amplitude_, inputs, inputs.row(i), k);
        column = k;
      },
      threads);
  pivoted.GrowTo(kNothingLeft * amplitude_ * static_cast<double>(inputs.rows()), most);
  inputs_ = inputs(pivoted.pivots(), Eigen::all);
  root_ = pivoted.factor()(pivoted.pivots(), Eigen::all);
  root_.triangularView<Eigen::StrictlyUpper>().setZero();
  for (const int i : pivoted.pivots()) centres_.push_back(rows[i]);
}

void LowRankPart::Learn(const Matrix& points, const std::vector<int>& rows, const Vector& y, const Vector& noise,
                        int neighbours, int threads) {
  const int count = static_cast<int>(rows.size());
  const std::vector<std::vector<int>> sets =
      VecchiaSets(points(Eigen::all, rows), Vector::Ones(points.rows()), neighbours, count, kOrderSeed, threads);
  Matrix precision = Matrix::Identity(rank(), rank());
  Vector b = Vector::Zero(rank());
  Matrix g(rank(), count);  // g_i / √d_i
  Vector e(count);          // e_i / √d_i
  ParallelFor(count, threads, [&](int k) {
    std::vector<int> set;
    for (const int i : sets[k]) set.push_back(rows[i]);
    const auto m = static_cast<Index>(set.size()) - 1;
    const Matrix inputs = points(Eigen::all, set).transpose(), own = features_(Eigen::all, set);
    Matrix all;
    CrossKernel(kernel_, amplitude_, inputs, inputs, all);
    all.noalias() -= own.transpose() * own;
    Matrix rest = all.bottomRightCorner(m, m);
    for (Index i = 0; i < m; ++i) rest(i, i) += noise[set[i + 1]];
    Vector weight = all.col(0).tail(m);
    SolveInPlace(rest, weight);
    const double variance =
        std::max(all(0, 0) - weight.dot(all.col(0).tail(m)), kLeastResidualVariance) + noise[set[0]];
    g.col(k) = (own.col(0) - own.rightCols(m) * weight) / std::sqrt(variance);
    double error = y[set[0]];
    for (Index i = 0; i < m; ++i) error -= weight[i] * y[set[i + 1]];
    e[k] = error / std::sqrt(variance);
  });
  precision.selfadjointView<Eigen::Lower>().rankUpdate(g);
  b.noalias() = g * e;
  FactoriseInPlace(precision);  // at least the identity
  factor_ = precision.triangularView<Eigen::Lower>();
  mean_ = Spread(b);
}

Vector LowRankPart::Features(const double* scaled) const {
  const Eigen::Map<const Eigen::RowVectorXd> x(scaled, inputs_.cols());
  Matrix k;
  CrossKernel(kernel_, amplitude_, inputs_, x, k);
  return root_.triangularView<Eigen::Lower>().solve(k.col(0));
}

Vector LowRankPart::Spread(const Vector& h) const { return factor_.triangularView<Eigen::Lower>().solve(h); }

Vector LowRankPart::SpreadAdjoint(const Vector& bar) const {
  return factor_.transpose().triangularView<Eigen::Upper>().solve(bar);
}

Vector LowRankPart::FeaturesAdjoint(const Vector& bar) const {
  return root_.transpose().triangularView<Eigen::Upper>().solve(bar);
}

int LowRankFor(int dimension, const std::vector<int>& counts) {
  if (dimension < kFewestDimensions) return 0;
  int64_t columns = 0;  // features of level 0; features and spreads of what the levels above it see
  for (size_t t = 0; t < counts.size(); ++t) columns += (t == 0 ? 1 : 2) * static_cast<int64_t>(counts[t]);
  const auto most = static_cast<int>(std::min<int64_t>(kMostCentres, kMostNumbers / std::max<int64_t>(1, columns)));
  return most < kFewestCentres ? 0 : most;
}

}  // namespace fidelio
