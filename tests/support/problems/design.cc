#include "tests/support/problems/design.h"

#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace fidelio {
namespace {

// The distributions of <random> differ between standard libraries, its engines do not.
class PortableRandom {
 public:
  explicit PortableRandom(uint64_t seed) : engine_(seed) {}

  // In (0, 1): the middle of one of 2⁵³ cells, so that neither end appears.
  double Uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }

  // 0 … n−1, with a bias below n/2⁶⁴.
  int Index(int n) { return static_cast<int>(engine_() % static_cast<uint64_t>(n)); }

  double Normal() {
    const double radius = std::sqrt(-2 * std::log(Uniform()));
    return radius * std::cos(2 * std::numbers::pi * Uniform());
  }

 private:
  std::mt19937_64 engine_;
};

// Spreads (seed, stream) over all 64 bits, so that neighbouring seeds give unrelated streams (splitmix64).
uint64_t Mix(uint64_t seed, uint64_t stream) {
  uint64_t z = seed + 0x9e3779b97f4a7c15u * (stream + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// FNV-1a: std::hash differs between platforms.
uint64_t HashName(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : name) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

constexpr uint64_t kTestStream = 1'000'000;
constexpr uint64_t kNoiseStream = 2'000'000;

uint64_t StreamSeed(const Problem& problem, uint64_t seed, uint64_t stream) {
  return Mix(Mix(seed, HashName(problem.name)), stream);
}

Vector Evaluate(const Problem& problem, int level, const Matrix& x) {
  Vector y(x.rows());
  for (int i = 0; i < x.rows(); ++i) y[i] = problem.function(level, x.row(i).transpose());
  return y;
}

}  // namespace

Matrix LatinHypercube(int n, const Vector& lower, const Vector& upper, CellPosition position, uint64_t seed) {
  PortableRandom random(seed);
  Matrix x(n, lower.size());
  std::vector<int> cells(n);
  for (int j = 0; j < x.cols(); ++j) {
    std::iota(cells.begin(), cells.end(), 0);
    for (int i = n - 1; i > 0; --i) std::swap(cells[i], cells[random.Index(i + 1)]);
    for (int i = 0; i < n; ++i) {
      const double within = position == CellPosition::kCentre ? 0.5 : random.Uniform();
      x(i, j) = lower[j] + (upper[j] - lower[j]) * (cells[i] + within) / n;
    }
  }
  return x;
}

absl::StatusOr<Dataset> MakeDataset(const Problem& problem, const std::vector<int>& sizes, uint64_t seed) {
  if (static_cast<int>(sizes.size()) != problem.levels()) {
    return absl::InvalidArgumentError(absl::StrCat("sizes: ", sizes.size(), " entries, but problem \"", problem.name,
                                                   "\" has ", problem.levels(), " levels"));
  }
  Dataset data;
  for (int t = 0; t < problem.levels(); ++t) {
    if (sizes[t] < 0) {
      return absl::InvalidArgumentError(absl::StrCat("sizes[", t, "]: ", sizes[t], ", must be at least 0"));
    }
    LevelData level;
    const CellPosition position = problem.dimension() == 1 ? CellPosition::kUniform : CellPosition::kCentre;
    level.x = LatinHypercube(sizes[t], problem.lower, problem.upper, position, StreamSeed(problem, seed, t));
    level.y = Evaluate(problem, t, level.x);
    if (!problem.noises.empty()) {
      PortableRandom random(StreamSeed(problem, seed, kNoiseStream + t));
      for (double& y : level.y) {
        const double divisor = 1 + problem.noises[t].relative_sd * random.Normal();
        y = y / divisor + problem.noises[t].sd * random.Normal();
      }
    }
    data.levels.push_back(std::move(level));
  }
  return data;
}

absl::StatusOr<LevelData> MakeTestSet(const Problem& problem, int n, uint64_t seed) {
  if (n < 1) return absl::InvalidArgumentError(absl::StrCat("test points: ", n, ", must be at least 1"));
  LevelData test;
  test.x =
      LatinHypercube(n, problem.lower, problem.upper, CellPosition::kUniform, StreamSeed(problem, seed, kTestStream));
  test.y = Evaluate(problem, problem.levels() - 1, test.x);
  return test;
}

}  // namespace fidelio
