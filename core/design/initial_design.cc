#include "core/design/initial_design.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/equal_rows.h"
#include "core/base/random.h"
#include "core/base/random_streams.h"
#include "core/base/sobol.h"
#include "core/base/status_macros.h"
#include "core/design/latin_hypercube.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr double kNearPart = 0.25;   // of the side of the cube that a point has for itself: nearer points are skipped
constexpr double kSamePoint = 1e-9;  // of the box: inputs of different levels that are nearer count as equal
constexpr int kMostHalvings = 24;    // of the distance, before the box is said to be full
constexpr int kGridDimensions = 3;   // by which points are looked up
constexpr int kMostMade = 16 << 20;  // Sobol' points

Matrix Stacked(const Matrix& a, const Matrix& b) {
  if (a.rows() == 0) return b;
  if (b.rows() == 0) return a;
  Matrix both(a.rows() + b.rows(), a.cols());
  both << a, b;
  return both;
}

// Points of the unit cube, by the cells of some of their coordinates, to find out whether one is near another.
class PointGrid {
 public:
  explicit PointGrid(double radius) : radius_(radius) {}

  void Add(const Eigen::RowVectorXd& x) { cells_[KeyOf(CellOf(x, Offsets{}))].push_back(x); }

  bool HasNear(const Eigen::RowVectorXd& x) const {
    const Index used = std::min<Index>(x.size(), kGridDimensions);
    Offsets offset{};
    std::fill_n(offset.begin(), used, -1);
    for (;;) {
      const auto found = cells_.find(KeyOf(CellOf(x, offset)));
      if (found != cells_.end()) {
        for (const Eigen::RowVectorXd& other : found->second) {
          if ((other - x).squaredNorm() < radius_ * radius_ || other == x) return true;
        }
      }
      Index d = 0;
      while (d < used && ++offset[d] > 1) offset[d++] = -1;
      if (d == used) return false;
    }
  }

 private:
  using Offsets = std::array<int64_t, kGridDimensions>;

  Offsets CellOf(const Eigen::RowVectorXd& x, const Offsets& offset) const {
    Offsets cell{};
    for (Index d = 0; d < std::min<Index>(x.size(), kGridDimensions); ++d) {
      cell[d] = static_cast<int64_t>(std::floor(std::clamp(x[d], -2.0, 3.0) / radius_)) + offset[d];
    }
    return cell;
  }
  static uint64_t KeyOf(const Offsets& cell) {
    uint64_t key = 0;
    for (const int64_t c : cell) key = (key ^ static_cast<uint64_t>(c)) * 0x9e3779b97f4a7c15u + (key >> 29);
    return key;
  }

  const double radius_;
  std::unordered_map<uint64_t, std::vector<Eigen::RowVectorXd>> cells_;
};

// The work on one design, in the unit cube of the inputs that have a range.
class Designer {
 public:
  Designer(const InputBox& box, const InitialDesignOptions& options) : box_(box), options_(options) {
    for (Index d = 0; d < box.lower.size(); ++d) {
      if (box.lower[d] < box.upper[d]) wide_.push_back(d);
    }
  }

  Index dimension() const { return static_cast<Index>(wide_.size()); }

  Matrix ToUnit(const Matrix& x) const {
    Matrix unit(x.rows(), dimension());
    for (Index k = 0; k < dimension(); ++k) {
      const Index d = wide_[static_cast<size_t>(k)];
      unit.col(k) = (x.col(d).array() - box_.lower[d]) / (box_.upper[d] - box_.lower[d]);
    }
    return unit;
  }

  Matrix FromUnit(const Matrix& unit) const {
    Matrix x = box_.lower.transpose().replicate(unit.rows(), 1);
    for (Index k = 0; k < dimension(); ++k) {
      const Index d = wide_[static_cast<size_t>(k)];
      x.col(d) =
          (box_.lower[d] + (box_.upper[d] - box_.lower[d]) * unit.col(k).array()).max(box_.lower[d]).min(box_.upper[d]);
    }
    return x;
  }

  // New points of a level that has `existing`; `others` has the inputs of all other levels.
  absl::StatusOr<Matrix> Fill(int level, const InitialLevel& wanted, const Matrix& others) const {
    const int count = wanted.count;
    const Matrix existing = ToUnit(wanted.existing);
    if (options_.method == InitialMethod::kLatinHypercube) {
      return MaximinLatinHypercube(count, existing, options_.seed, DesignStream(static_cast<uint32_t>(level)),
                                   options_.check);
    }
    if (dimension() > kMostSobolDimensions) {
      return absl::InvalidArgumentError(
          absl::StrFormat("method: Sobol' points have at most %d inputs, but there are %d; use a Latin hypercube",
                          kMostSobolDimensions, dimension()));
    }
    const double share = 1.0 / static_cast<double>(count + existing.rows());
    double radius = kNearPart * std::pow(share, 1.0 / static_cast<double>(dimension()));
    for (int halving = 0; halving < kMostHalvings; ++halving, radius /= 2) {
      FIDELIO_ASSIGN_OR_RETURN(Matrix points, Sobol(level, count, existing, others, radius));
      if (points.rows() == count) return points;
    }
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: %d, but the box does not have that many distinct inputs left", wanted.field, count));
  }

  // `count` of the candidates, none of which the level has.
  absl::StatusOr<std::vector<int>> Choose(int level, int count, const Matrix& existing,
                                          const Matrix& candidates) const {
    Vector distance = Vector::Constant(candidates.rows(), std::numeric_limits<double>::infinity());
    const auto keep_away = [&](const Eigen::RowVectorXd& from) {
      distance = distance.cwiseMin((candidates.rowwise() - from).rowwise().squaredNorm());
    };
    for (Index i = 0; i < existing.rows(); ++i) {
      if (options_.check && i % 64 == 0) FIDELIO_RETURN_IF_ERROR(options_.check());
      keep_away(existing.row(i));
    }
    Random random(options_.seed, StreamOf(RandomUse::kNestedDesign, static_cast<uint32_t>(level)));
    std::vector<int> chosen;
    while (static_cast<int>(chosen.size()) < count) {
      if (options_.check && chosen.size() % 64 == 0) FIDELIO_RETURN_IF_ERROR(options_.check());
      Index best = 0;
      if (chosen.empty() && existing.rows() == 0) {
        best = std::min<Index>(candidates.rows() - 1,
                               static_cast<Index>(random.Uniform() * static_cast<double>(candidates.rows())));
      } else {
        distance.maxCoeff(&best);
      }
      chosen.push_back(static_cast<int>(best));
      keep_away(candidates.row(best));
      distance[best] = -1;
    }
    return chosen;
  }

 private:
  // The first `count` points of the level's sequence that are not near to others; fewer when too many are.
  absl::StatusOr<Matrix> Sobol(int level, int count, const Matrix& existing, const Matrix& others,
                               double radius) const {
    PointGrid own(radius), all(kSamePoint);
    for (Index i = 0; i < existing.rows(); ++i) own.Add(existing.row(i));
    for (Index i = 0; i < others.rows(); ++i) all.Add(others.row(i));
    const Vector zero = Vector::Zero(dimension()), one = Vector::Ones(dimension());
    const uint64_t seed = Random(options_.seed, DesignStream(static_cast<uint32_t>(level))).NextBits();
    Matrix result(count, dimension());
    Index kept = 0, seen = 0;
    // Some of the existing points may be of this very sequence: those come first.
    const auto most = std::min<int64_t>(kMostMade, 4 * (static_cast<int64_t>(count) + existing.rows()) + 1024);
    for (auto made = static_cast<int64_t>(count); kept < count; made = std::min(most, 2 * made)) {
      if (options_.check) FIDELIO_RETURN_IF_ERROR(options_.check());
      FIDELIO_ASSIGN_OR_RETURN(const Matrix points, ScrambledSobol(static_cast<int>(made), zero, one, seed));
      for (; seen < points.rows() && kept < count; ++seen) {
        if (own.HasNear(points.row(seen)) || all.HasNear(points.row(seen))) continue;
        result.row(kept++) = points.row(seen);
      }
      if (made == most) break;
    }
    return Matrix(result.topRows(kept));
  }

  const InputBox& box_;
  const InitialDesignOptions& options_;
  std::vector<Index> wide_;
};

// The distinct rows of x that are not among those of `without`, in their order.
Matrix DistinctRows(const Matrix& without, const Matrix& x) {
  const EqualRows rows = FindEqualRows(Stacked(without, x));
  std::vector<bool> seen(static_cast<size_t>(rows.count), false);
  std::vector<Index> kept;
  for (size_t i = 0; i < rows.group.size(); ++i) {
    const auto row = static_cast<Index>(i) - without.rows();
    if (row >= 0 && !seen[rows.group[i]]) kept.push_back(row);
    seen[rows.group[i]] = true;
  }
  return x(kept, Eigen::all);
}

}  // namespace

absl::StatusOr<std::vector<Matrix>> InitialDesign(const InputBox& box, const std::vector<InitialLevel>& levels,
                                                  const InitialDesignOptions& options) {
  const Designer designer(box, options);
  if (designer.dimension() == 0) {
    return absl::InvalidArgumentError("box: lower and upper bound of every input agree, want a range");
  }
  const Index d = box.lower.size();
  std::vector<Matrix> result(levels.size(), Matrix(0, d));
  const Matrix* below = nullptr;  // of the next lower level with inputs
  std::vector<Matrix> inputs(levels.size(), Matrix(0, d));
  Matrix everything(0, d);
  for (const InitialLevel& level : levels) everything = Stacked(everything, level.existing);
  for (size_t t = 0; t < levels.size(); ++t) {
    const int level = static_cast<int>(t), count = levels[t].count;
    if (count > 0 && options.nested && below != nullptr) {
      const Matrix candidates = DistinctRows(levels[t].existing, *below);
      if (candidates.rows() < count) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "%s: %d, but a nested design can choose only among %d inputs of the fidelity below that are not run yet",
            levels[t].field, count, candidates.rows()));
      }
      FIDELIO_ASSIGN_OR_RETURN(
          const std::vector<int> chosen,
          designer.Choose(level, count, designer.ToUnit(levels[t].existing), designer.ToUnit(candidates)));
      result[t] = candidates(chosen, Eigen::all);
    } else if (count > 0) {
      FIDELIO_ASSIGN_OR_RETURN(const Matrix unit, designer.Fill(level, levels[t], designer.ToUnit(everything)));
      result[t] = designer.FromUnit(unit);
      everything = Stacked(everything, result[t]);
    }
    inputs[t] = Stacked(levels[t].existing, result[t]);
    if (inputs[t].rows() > 0) below = &inputs[t];
  }
  return result;
}

}  // namespace fidelio
