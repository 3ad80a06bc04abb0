#include "core/neighbour/neighbour_path.h"

#include <cmath>

#include "core/base/normal.h"

namespace fidelio {
namespace {

using Eigen::Index;

// Copies of the error, and waves of each term of theirs: as many waves in all as a path of other models has.
constexpr int kCopies = 8, kWaves = 32;

std::array<uint32_t, 2> Key(Random& random) {
  const uint64_t bits = random.NextBits();
  return {static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32)};
}

uint64_t Hash(int observation, const std::array<uint32_t, 2>& key) {
  const std::array<uint32_t, 4> block = Philox({static_cast<uint32_t>(observation), 0, 0, 0}, key);
  return (uint64_t{block[1]} << 32) | block[0];
}

}  // namespace

NeighbourPath::NeighbourPath(const NeighbourStack& stack, int level, Random& random)
    : stack_(stack), level_(level), parameters_(stack.layout(level), stack.theta(level)), sign_key_(Key(random)) {
  for (int b = 0; b < kCopies; ++b) copies_.push_back(DrawCopy(random));
}

NeighbourPath::Copy NeighbourPath::DrawCopy(Random& random) const {
  const SpectralFactor over_x{.family = stack_.kernel(level_),
                              .dimensions = static_cast<int>(parameters_.inverse.size())};
  Copy copy{.own = SpectralPath({over_x}, kWaves, random), .link = {}, .below = {}, .noise_key = {}};
  copy.noise_key = Key(random);
  if (level_ == 0) return copy;
  copy.link.emplace(over_x, kWaves, random);
  copy.offset = std::sqrt(parameters_.offset) * random.Normal();
  copy.below = std::make_unique<const NeighbourPath>(stack_, level_ - 1, random);
  return copy;
}

Matrix NeighbourPath::Inputs(const std::vector<ReachedPoint>& points, const Vector& inverse) const {
  Matrix inputs(static_cast<Index>(points.size()), inverse.size());
  for (Index i = 0; i < inputs.rows(); ++i) {
    inputs.row(i) = Eigen::Map<const Vector>(points[i].x, inverse.size()).cwiseProduct(inverse).transpose();
  }
  return inputs;
}

Vector NeighbourPath::Prior(const Copy& copy, const std::vector<ReachedPoint>& points, const Matrix& own,
                            const Matrix& rho) const {
  if (level_ == 0) return std::sqrt(parameters_.amplitude) * copy.own.Evaluate(own);
  const LinkScalars& s = parameters_.scalars;
  Vector f(own.rows()), mean(own.rows());
  for (Index i = 0; i < f.size(); ++i) {
    f[i] = copy.below->At(points[i]);
    mean[i] = points[i].at[level_ - 1].mean;
  }
  Vector p = s.rho * (f - mean) + std::sqrt(s.delta) * copy.own.Evaluate(own);
  copy.link->AddTo(s.terms, rho, f, p);
  p.array() += copy.offset;
  return p;
}

double NeighbourPath::At(const ReachedPoint& point) const {
  const Stencil& stencil = point.at[level_];
  const int m = static_cast<int>(stencil.index.size());
  std::vector<ReachedPoint> points = {point};  // and its neighbours
  Vector noise_sd(m);
  for (int j = 0; j < m; ++j) {
    points.push_back(stack_.Observed(level_, stencil.index[j]));
    const Vector& given = stack_.data(level_).noise;
    noise_sd[j] = std::sqrt(parameters_.noise + (given.size() > 0 ? given[stencil.index[j]] : 0));
  }
  // What each copy is multiplied by. Without observations there is one, which is the prior.
  Vector factor = Vector::Zero(kCopies);
  if (m == 0) factor[0] = 1;
  for (const int i : stencil.index) {
    const uint64_t hash = Hash(i, sign_key_);
    factor[static_cast<Index>((hash >> 1) % kCopies)] += (hash & 1) == 0 ? 1 : -1;
  }
  if (m > 0) factor /= std::sqrt(static_cast<double>(m));

  const Matrix own = Inputs(points, parameters_.inverse);
  const Matrix rho = level_ == 0 ? Matrix() : Inputs(points, parameters_.rho_inverse);
  double f = stencil.mean;
  for (int b = 0; b < kCopies; ++b) {
    if (factor[b] == 0) continue;
    const Vector p = Prior(copies_[b], points, own, rho);
    double error = p[0];
    for (int j = 0; j < m; ++j) {
      const double noise = noise_sd[j] * NormalQuantile(OpenUniform(Hash(stencil.index[j], copies_[b].noise_key)));
      error -= stencil.weight[j] * (p[j + 1] + noise);
    }
    f += factor[b] * error;
  }
  return f;
}

}  // namespace fidelio
