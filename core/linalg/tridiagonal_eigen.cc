#include "core/linalg/tridiagonal_eigen.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/parallel.h"
#include "core/linalg/parallel_product.h"
#include "core/linalg/product.h"
#include "core/linalg/secular_roots.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr Index kByRotations = 32;  // up to this size, by rotations

// In which half of the rows an eigenvector of the torn matrix is not zero.
enum class Half { kUpper, kBoth, kLower };

// values + z zᵀ in the basis `vectors` (n×n: upper×upper and lower×lower blocks): to be diagonalised in place.
class Merge {
 public:
  Merge(Index upper, Eigen::Ref<Vector> values, MatrixRef vectors, Vector z, int threads)
      : upper_(upper),
        values_(values),
        vectors_(vectors),
        z_(std::move(z)),
        halves_(values.size(), Half::kUpper),
        threads_(threads) {
    std::fill(halves_.begin() + upper, halves_.end(), Half::kLower);
  }

  void Run() {
    const Matrix by = Solve();
    Sort(active_.empty() ? Matrix() : Turned(by));
  }

  // The same for some vectors alone, in the order of `choose`; those in place become scratch.
  Matrix RunFor(const ChooseVectors& choose) {
    const Matrix by = Solve();
    const std::vector<int> order = Ascending();
    const std::vector<int> at = PlacesOfActive();
    const Vector sorted = values_(order);
    const std::vector<int> chosen = choose(sorted);
    Matrix vectors(values_.size(), static_cast<Index>(chosen.size()));
    std::vector<int> columns, targets;  // of `by`, and where they go
    for (size_t j = 0; j < chosen.size(); ++j) {
      const int i = order[chosen[j]];
      if (at[i] < 0) {
        vectors.col(static_cast<Index>(j)) = vectors_.col(i);
      } else {
        columns.push_back(at[i]);
        targets.push_back(static_cast<int>(j));
      }
    }
    if (!columns.empty()) vectors(Eigen::all, targets) = Turned(by(Eigen::all, columns));
    values_ = sorted;
    return vectors;
  }

 private:
  // Finds the values; those of the active ones have the vectors of the result in the basis of the active ones.
  Matrix Solve() {
    Deflate();
    if (active_.empty()) return {};
    SecularRoots roots = SolveSecular(values_(active_), z_(active_), threads_);
    for (size_t j = 0; j < active_.size(); ++j) values_[active_[j]] = roots.values[static_cast<Index>(j)];
    return std::move(roots.vectors);
  }

  std::vector<int> Ascending() const {
    std::vector<int> order(values_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return values_[i] < values_[j]; });
    return order;
  }

  // Of each value its place among the active ones, or −1.
  std::vector<int> PlacesOfActive() const {
    std::vector<int> at(values_.size(), -1);
    for (size_t j = 0; j < active_.size(); ++j) at[active_[j]] = static_cast<int>(j);
    return at;
  }

  // Fills active_ by what is left to solve for, with ascending values.
  void Deflate() {
    const std::vector<int> order = Ascending();
    const double norm = z_.norm();
    const double rounding = 8 * std::numeric_limits<double>::epsilon() *
                            std::max(values_.cwiseAbs().maxCoeff(), norm * z_.cwiseAbs().maxCoeff());
    int before = -1;
    for (const int i : order) {
      if (norm * std::abs(z_[i]) <= rounding) continue;
      if (before >= 0) {
        const double length = std::hypot(z_[i], z_[before]), c = z_[i] / length, s = -z_[before] / length;
        if (std::abs((values_[i] - values_[before]) * c * s) <= rounding) {
          Turn(before, i, c, s);
          z_[i] = length;
        } else {
          active_.push_back(before);
        }
      }
      before = i;
    }
    if (before >= 0) active_.push_back(before);
  }

  // Turns the vectors of two values that are nearly the same such that z of the first becomes 0.
  void Turn(int first, int second, double c, double s) {
    const Vector old = vectors_.col(first);
    vectors_.col(first) = c * old + s * vectors_.col(second);
    vectors_.col(second) = c * vectors_.col(second) - s * old;
    const double low = values_[first], high = values_[second];
    values_[first] = low * c * c + high * s * s;
    values_[second] = low * s * s + high * c * c;
    if (halves_[first] != halves_[second]) halves_[first] = halves_[second] = Half::kBoth;
  }

  // The active vectors times `by`, some columns of what Solve found. Only rows that are not zero are multiplied.
  Matrix Turned(const Matrix& by) const {
    const Index k = by.rows(), columns = by.cols(), n = values_.size();
    std::vector<int> order(k);  // by halves
    std::iota(order.begin(), order.end(), 0);
    const auto half = [&](int j) { return halves_[active_[j]]; };
    std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return half(i) < half(j); });
    const Index only_upper = std::count_if(order.begin(), order.end(), [&](int j) { return half(j) == Half::kUpper; });
    const Index only_lower = std::count_if(order.begin(), order.end(), [&](int j) { return half(j) == Half::kLower; });
    Matrix sorted(n, k), turned(n, columns), rows(k, columns);
    ForColumns(k, [&](Index j) { sorted.col(j) = vectors_.col(active_[order[j]]); });
    ForColumns(columns, [&](Index j) { rows.col(j) = by.col(j)(order); });
    MultiplyOnThreads(threads_, Part::kAll, 1, sorted.topLeftCorner(upper_, k - only_lower),
                      rows.topRows(k - only_lower), Write::kSet, turned.topRows(upper_));
    MultiplyOnThreads(threads_, Part::kAll, 1, sorted.bottomRightCorner(n - upper_, k - only_upper),
                      rows.bottomRows(k - only_upper), Write::kSet, turned.bottomRows(n - upper_));
    return turned;
  }

  // Values ascending, with their vectors: those of the active ones are `turned`, in their order.
  void Sort(const Matrix& turned) {
    const Index n = values_.size();
    const std::vector<int> order = Ascending(), at = PlacesOfActive();
    std::vector<int> deflated;
    for (int i = 0; i < n; ++i) {
      if (at[i] < 0) deflated.push_back(i);
    }
    const Vector values = values_(order);
    const Matrix kept = vectors_(Eigen::all, deflated);
    values_ = values;
    ForColumns(n, [&](Index j) {
      const int i = order[j];
      if (at[i] >= 0) {
        vectors_.col(j) = turned.col(at[i]);
      } else {
        vectors_.col(j) = kept.col(std::lower_bound(deflated.begin(), deflated.end(), i) - deflated.begin());
      }
    });
  }

  // body(j) for every column j < columns, some per thread.
  template <typename Body>
  void ForColumns(Index columns, const Body& body) const {
    constexpr Index kSome = 256;
    ParallelFor(static_cast<int>((columns + kSome - 1) / kSome), threads_, [&](int part) {
      for (Index j = part * kSome; j < std::min<Index>(columns, (part + 1) * kSome); ++j) body(j);
    });
  }

  const Index upper_;
  Eigen::Ref<Vector> values_;
  MatrixRef vectors_;
  Vector z_;
  std::vector<Half> halves_;
  std::vector<int> active_;
  const int threads_;
};

// `values` holds the diagonal, and `vectors` zeros, on entry: torn in the middle, both halves are solved for. Their
// merge is left.
Merge Tear(Eigen::Ref<Vector> values, const Vector& beside, MatrixRef vectors, int threads);

void Solve(Eigen::Ref<Vector> values, const Vector& beside, MatrixRef vectors, int threads) {
  if (values.size() > kByRotations) {
    Tear(values, beside, vectors, threads).Run();
    return;
  }
  Eigen::SelfAdjointEigenSolver<Matrix> solver;
  solver.computeFromTridiagonal(values, beside);
  values = solver.eigenvalues();
  vectors = solver.eigenvectors();
}

Merge Tear(Eigen::Ref<Vector> values, const Vector& beside, MatrixRef vectors, int threads) {
  const Index n = values.size(), upper = n / 2, lower = n - upper;
  const double tear = beside[upper - 1], size = std::abs(tear);
  values[upper - 1] -= size;
  values[upper] -= size;
  Solve(values.head(upper), beside.head(upper - 1), vectors.topLeftCorner(upper, upper), threads);
  Solve(values.tail(lower), beside.tail(lower - 1), vectors.bottomRightCorner(lower, lower), threads);
  Vector z(n);
  z << vectors.row(upper - 1).head(upper).transpose(),
      std::copysign(1.0, tear) * vectors.row(upper).tail(lower).transpose();
  return Merge(upper, values, vectors, std::sqrt(size) * z, threads);
}

}  // namespace

SymmetricEigen EigenOfTridiagonal(const Vector& diagonal, const Vector& beside, const ChooseVectors& choose,
                                  int threads) {
  const Index n = diagonal.size();
  SymmetricEigen eigen{diagonal, Matrix::Zero(n, n)};
  if (n == 0) return eigen;
  if (n <= kByRotations) {
    Solve(eigen.values, beside, eigen.vectors, threads);
    eigen.vectors = eigen.vectors(Eigen::all, choose(eigen.values)).eval();
  } else {
    eigen.vectors = Tear(eigen.values, beside, eigen.vectors, threads).RunFor(choose);
  }
  return eigen;
}

}  // namespace fidelio
