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

constexpr Index kSmall = 32;  // up to this size, by rotations

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
    Deflate();
    Matrix turned;
    if (!active_.empty()) {
      const SecularRoots roots = SolveSecular(values_(active_), z_(active_), threads_);
      turned = Turned(roots.vectors);
      for (size_t j = 0; j < active_.size(); ++j) values_[active_[j]] = roots.values[static_cast<Index>(j)];
    }
    Sort(turned);
  }

 private:
  // Fills active_ by what is left to solve for, with ascending values.
  void Deflate() {
    const Index n = values_.size();
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return values_[i] < values_[j]; });
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

  // The active vectors times `by`. Only rows that are not zero are multiplied.
  Matrix Turned(const Matrix& by) const {
    const Index k = by.cols(), n = values_.size();
    std::vector<int> order(k);  // by halves
    std::iota(order.begin(), order.end(), 0);
    const auto half = [&](int j) { return halves_[active_[j]]; };
    std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return half(i) < half(j); });
    const Index only_upper = std::count_if(order.begin(), order.end(), [&](int j) { return half(j) == Half::kUpper; });
    const Index only_lower = std::count_if(order.begin(), order.end(), [&](int j) { return half(j) == Half::kLower; });
    Matrix sorted(n, k), turned(n, k), rows(k, k);
    ForColumns(k, [&](Index j) {
      sorted.col(j) = vectors_.col(active_[order[j]]);
      rows.col(j) = by.col(j)(order);
    });
    MultiplyOnThreads(threads_, Part::kAll, 1, sorted.topLeftCorner(upper_, k - only_lower),
                      rows.topRows(k - only_lower), Write::kSet, turned.topRows(upper_));
    MultiplyOnThreads(threads_, Part::kAll, 1, sorted.bottomRightCorner(n - upper_, k - only_upper),
                      rows.bottomRows(k - only_upper), Write::kSet, turned.bottomRows(n - upper_));
    return turned;
  }

  // Values ascending, with their vectors: those of the active ones are `turned`, in their order.
  void Sort(const Matrix& turned) {
    const Index n = values_.size();
    std::vector<int> order(n), at(n, -1), deflated;  // at: column of turned, or −1
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return values_[i] < values_[j]; });
    for (size_t j = 0; j < active_.size(); ++j) at[active_[j]] = static_cast<int>(j);
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

// `values` holds the diagonal, and `vectors` zeros, on entry.
void Solve(Eigen::Ref<Vector> values, const Vector& beside, MatrixRef vectors, int threads) {
  const Index n = values.size();
  if (n <= kSmall) {
    Eigen::SelfAdjointEigenSolver<Matrix> solver;
    solver.computeFromTridiagonal(values, beside);
    values = solver.eigenvalues();
    vectors = solver.eigenvectors();
    return;
  }
  const Index upper = n / 2, lower = n - upper;
  const double tear = beside[upper - 1], size = std::abs(tear);
  values[upper - 1] -= size;
  values[upper] -= size;
  Solve(values.head(upper), beside.head(upper - 1), vectors.topLeftCorner(upper, upper), threads);
  Solve(values.tail(lower), beside.tail(lower - 1), vectors.bottomRightCorner(lower, lower), threads);
  Vector z(n);
  z << vectors.row(upper - 1).head(upper).transpose(),
      std::copysign(1.0, tear) * vectors.row(upper).tail(lower).transpose();
  Merge(upper, values, vectors, std::sqrt(size) * z, threads).Run();
}

}  // namespace

SymmetricEigen EigenOfTridiagonal(const Vector& diagonal, const Vector& beside, int threads) {
  const Index n = diagonal.size();
  SymmetricEigen eigen{diagonal, Matrix::Zero(n, n)};
  if (n > 0) Solve(eigen.values, beside, eigen.vectors, threads);
  return eigen;
}

}  // namespace fidelio
