#include "core/design/k_dpp.h"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/random_streams.h"
#include "core/design/eigenvalue_subset.h"
#include "core/design/projection_dpp.h"
#include "core/linalg/parallel_product.h"
#include "core/linalg/pivoted_cholesky.h"
#include "core/linalg/product.h"
#include "core/linalg/symmetric_eigen.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

absl::Status CheckKernel(const Matrix& kernel, int threads) {
  const Index n = kernel.rows();
  if (kernel.cols() != n) {
    return absl::InvalidArgumentError(absl::StrCat("kernel: ", n, "×", kernel.cols(), ", must be square"));
  }
  const auto wrong = [&](Index i, Index j, absl::string_view rule) {
    return absl::InvalidArgumentError(absl::StrCat("kernel[", i, "][", j, "]: ", kernel(i, j), ", must be ", rule));
  };
  const double largest = n == 0 ? 0 : kernel.diagonal().cwiseAbs().maxCoeff();
  constexpr Index kBlock = 64;  // of elements and their mirror images, which fit the cache together
  const int blocks = static_cast<int>((n + kBlock - 1) / kBlock);
  std::vector<absl::Status> statuses(blocks);  // of blocks of columns
  ParallelFor(blocks, threads, [&](int block) {
    const Index first = block * kBlock, end = std::min(n, first + kBlock);
    for (Index j = first; j < end; ++j) {
      for (Index i = 0; i < n; ++i) {
        if (!std::isfinite(kernel(i, j))) {
          statuses[block] = wrong(i, j, "finite");
          return;
        }
      }
      if (kernel(j, j) < -1e-8 * largest) {
        statuses[block] = wrong(j, j, "at least 0");
        return;
      }
    }
    for (Index row = first; row < n; row += kBlock) {
      for (Index j = first; j < end; ++j) {
        for (Index i = row; i < std::min(n, row + kBlock); ++i) {
          if (!(std::abs(kernel(i, j) - kernel(j, i)) > 1e-8 * largest)) continue;
          statuses[block] = wrong(i, j, absl::StrCat("the same as kernel[", j, "][", i, "], which is ", kernel(j, i)));
          return;
        }
      }
    }
  });
  for (const absl::Status& status : statuses) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// log(e_{k−1}/e_k).
double LogRatio(const Vector& values, int k) { return EigenvalueSubset(values.array().log(), k).LogRatio(); }

// Whether the trace of the rest will fall to `target` while the rank is low, judged by how it fell since half the rank.
bool IsHopeless(const std::vector<double>& traces, double target, Index n) {
  const Index rank = static_cast<Index>(traces.size());
  if (rank < std::max<Index>(64, n / 8)) return false;
  const double now = traces.back(), slope = std::log(traces[rank / 2] / now) / static_cast<double>(rank - rank / 2);
  return static_cast<double>(rank) + std::log(now / target) / slope > 0.45 * static_cast<double>(n) || !(slope > 0);
}

// log det(a) of a positive definite a, in extended precision where it is ill-conditioned; nothing when it is not
// positive definite.
std::optional<double> LogDeterminantOf(const Matrix& a) {
  constexpr double kWellConditioned = 1e-6;
  const Eigen::LLT<Matrix> cholesky(a);
  const Vector diagonal = cholesky.matrixLLT().diagonal();
  const bool well =
      cholesky.info() == Eigen::Success && (diagonal.array().square() > kWellConditioned * a.diagonal().array()).all();
  if (well) return 2 * diagonal.array().log().sum();
  using Extended = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  const Eigen::LLT<Extended> extended(a.cast<long double>());
  if (extended.info() != Eigen::Success) return std::nullopt;
  return static_cast<double>(2 * extended.matrixLLT().diagonal().array().log().sum());
}

// log det(f fᵀ) of features f, one row each, which keep twice the digits of their products.
double LogDeterminantOfFeatures(const Matrix& f) {
  const Eigen::HouseholderQR<Matrix> qr(f.transpose());
  return 2 * qr.matrixQR().diagonal().cwiseAbs().array().log().sum();
}

struct LowRank {
  Matrix factor;
  double rest_trace;
};

// V of a kernel of low rank, or nothing: when the rank is not low, when the kernel is small anyway, or when it is
// indefinite by more than rounding.
std::optional<LowRank> LowRankFactor(const Matrix& kernel, const KDppOptions& options) {
  constexpr Index kSmall = 128, kBetweenChecks = 16;
  constexpr double kIndefinite = 1e-6, kMargin = 0.3;
  const Index n = kernel.rows();
  if (n <= kSmall || !options.low_rank) return std::nullopt;
  PivotedCholesky cholesky(
      kernel.diagonal().cwiseMax(0), [&](Index i, Eigen::Ref<Vector> column) { column = kernel.col(i); },
      options.threads);
  double target = static_cast<double>(n) * kEpsilon * cholesky.rest_trace();
  Vector norms(0);  // of V's columns, squared: nearly the eigenvalues
  std::vector<double> traces;
  while (cholesky.Grow()) {
    traces.push_back(cholesky.rest_trace());
    if (cholesky.rank() % kBetweenChecks != 0) continue;
    if (options.largest_k > 0 && cholesky.rank() > options.largest_k) {
      Index j = norms.size();
      norms.conservativeResize(cholesky.rank());
      for (; j < norms.size(); ++j) norms[j] = cholesky.column(j).squaredNorm();
      target = std::max(target, kMargin * options.tolerance * std::exp(-LogRatio(norms, options.largest_k)));
    }
    if (traces.back() <= target) break;
    if (IsHopeless(traces, target, n)) return std::nullopt;
  }
  if (cholesky.noise() > kIndefinite) return std::nullopt;
  return LowRank{cholesky.factor(), cholesky.rest_trace()};
}

absl::Status CheckSizeOf(int k, Index rank, Index candidates, int largest_k) {
  if (k < 1) return absl::InvalidArgumentError(absl::StrCat("k: ", k, ", must be at least 1"));
  if (k > rank) {
    return absl::InvalidArgumentError(
        absl::StrCat("k: ", k, ", but the kernel of ", candidates, " candidates has the numerical rank ", rank));
  }
  if (largest_k > 0 && k > largest_k) {
    return absl::InvalidArgumentError(
        absl::StrCat("k: ", k, ", but the kernel was factorised for at most ", largest_k));
  }
  return absl::OkStatus();
}

// How many of the eigenvalues, from the largest down, are more than rounding.
Index RankOf(const Vector& values) {
  const Index n = values.size();
  const double rounding = n == 0 ? 0 : static_cast<double>(n) * kEpsilon * values[0];
  Index rank = 0;
  while (rank < n && values[rank] > rounding) ++rank;
  return rank;
}

Matrix DualOf(const Matrix& factor, int threads) {
  Matrix dual(factor.cols(), factor.cols());
  MultiplyOnThreads(threads, Part::kLower, 1, factor.transpose(), factor, Write::kSet, dual);
  return dual;
}

// Of eigenvectors of the dual, with their values, those of the kernel.
Matrix FromDualVectors(const Matrix& factor, const Matrix& vectors, const Vector& values, int threads) {
  const Matrix scaled = vectors * values.cwiseSqrt().cwiseInverse().asDiagonal();
  Matrix result(factor.rows(), vectors.cols());
  MultiplyOnThreads(threads, Part::kAll, 1, factor, scaled, Write::kSet, result);
  return result;
}

// The second half of a draw, from its eigenvectors, one row each. Vectors of the dual are orthonormal to rounding times
// the ratio of the largest eigenvalue to theirs, the smallest of which is `smallest`.
std::vector<int> DrawCandidates(Matrix y, bool orthonormal, double smallest, double largest, Random& random) {
  if (!orthonormal && smallest < 1e-6 * largest) {
    const Eigen::HouseholderQR<Matrix> qr(y.transpose());
    y = (qr.householderQ() * Matrix::Identity(y.cols(), y.rows())).transpose();
  }
  std::vector<int> indices = DrawProjectionDpp(y, random);
  std::sort(indices.begin(), indices.end());
  return indices;
}

}  // namespace

KDpp::KDpp(Vector values, Matrix vectors, bool orthonormal, const KDppOptions& options)
    : values_(std::move(values)),
      log_values_(values_.array().log()),
      vectors_(std::move(vectors)),
      orthonormal_(orthonormal),
      options_(options) {}

absl::StatusOr<KDpp> KDpp::FromKernel(Matrix kernel, const KDppOptions& options) {
  const ThreadPool pool;  // factorisations make thousands of short calls
  if (const absl::Status status = CheckKernel(kernel, options.threads); !status.ok()) return status;
  const std::optional<LowRank> low = LowRankFactor(kernel, options);
  absl::StatusOr<KDpp> dpp = low ? FromDual(low->factor, options) : FromEigenvectors(kernel, options);
  if (!dpp.ok()) return dpp;
  dpp->rest_trace_ = low ? low->rest_trace : 0;
  const int k = options.largest_k;
  if (k > 0 && k <= dpp->rank() && dpp->rest_trace_ * std::exp(LogRatio(dpp->values_, k)) > options.tolerance) {
    // Pivoting stopped too early: the norms of its columns overestimate small eigenvalues.
    dpp = FromKernel(std::move(kernel), {.threads = options.threads});
    if (dpp.ok()) dpp->options_ = options;
    return dpp;
  }
  dpp->kernel_ = std::move(kernel);
  return dpp;
}

absl::StatusOr<KDpp> KDpp::FromDual(const Matrix& factor, const KDppOptions& options) {
  const SymmetricEigen eigen = EigenOfSymmetric(DualOf(factor, options.threads), options.threads);
  const Index rank = RankOf(eigen.values);
  const Vector values = eigen.values.head(rank);
  Matrix vectors = FromDualVectors(factor, eigen.vectors.leftCols(rank), values, options.threads);
  if (!vectors.allFinite()) return absl::InternalError("kernel: its eigenvectors are not finite");
  return KDpp(values, std::move(vectors), /*orthonormal=*/false, options);
}

absl::StatusOr<KDpp> KDpp::FromEigenvectors(const Matrix& kernel, const KDppOptions& options) {
  SymmetricEigen eigen = EigenOfSymmetric(kernel, options.threads);
  const Index rank = RankOf(eigen.values);
  if (!eigen.vectors.allFinite()) return absl::InternalError("kernel: its eigenvectors are not finite");
  eigen.vectors.conservativeResize(Eigen::NoChange, rank);
  return KDpp(eigen.values.head(rank), std::move(eigen.vectors), /*orthonormal=*/true, options);
}

absl::Status KDpp::CheckSize(int k) const { return CheckSizeOf(k, rank(), candidates(), options_.largest_k); }

absl::StatusOr<KDppDraw> KDpp::Sample(int k, uint64_t seed) const {
  if (const absl::Status status = CheckSize(k); !status.ok()) return status;
  Random random(seed, StreamOf(RandomUse::kKDpp));
  const std::vector<int> subset = EigenvalueSubset(log_values_, k).Draw(random);
  KDppDraw draw;
  draw.indices = DrawCandidates(vectors_(Eigen::all, subset).transpose(), orthonormal_, values_[subset.back()],
                                values_[0], random);
  std::optional<double> log_determinant = LogDeterminantOf(kernel_(draw.indices, draw.indices));
  if (!log_determinant) {
    log_determinant = LogDeterminantOfFeatures(vectors_(draw.indices, Eigen::all) * values_.cwiseSqrt().asDiagonal());
  }
  draw.log_determinant = *log_determinant;
  return draw;
}

absl::StatusOr<KDppDraw> KDpp::SampleOnce(Matrix kernel, int k, uint64_t seed, const KDppOptions& given) {
  const ThreadPool pool;  // as in FromKernel
  KDppOptions options = given;
  options.largest_k = k;
  if (const absl::Status status = CheckKernel(kernel, options.threads); !status.ok()) return status;
  const std::optional<LowRank> low = LowRankFactor(kernel, options);
  Random random(seed, StreamOf(RandomUse::kKDpp));
  absl::Status status;
  bool within = true;  // the tolerance
  Vector values;
  std::vector<int> subset;
  const SymmetricEigen eigen = EigenOfSymmetric(
      low ? DualOf(low->factor, options.threads) : kernel,
      [&](const Vector& all) {
        values = all.head(RankOf(all));
        status = CheckSizeOf(k, values.size(), kernel.rows(), 0);
        if (!status.ok()) return subset;
        const EigenvalueSubset subsets(values.array().log(), k);
        within = !low || low->rest_trace * std::exp(subsets.LogRatio()) <= options.tolerance;
        if (within) subset = subsets.Draw(random);
        return subset;
      },
      options.threads);
  if (kernel.rows() == 0) status = CheckSizeOf(k, 0, 0, 0);
  if (!status.ok()) return status;
  const auto the_long_way = [&]() -> absl::StatusOr<KDppDraw> {
    const absl::StatusOr<KDpp> dpp = FromKernel(std::move(kernel), options);
    return dpp.ok() ? dpp->Sample(k, seed) : dpp.status();
  };
  // Pivoting stopped too early, as in FromKernel.
  if (!within) return the_long_way();
  const Matrix vectors =
      low ? FromDualVectors(low->factor, eigen.vectors, values(subset), options.threads) : eigen.vectors;
  if (!vectors.allFinite()) return absl::InternalError("kernel: its eigenvectors are not finite");
  KDppDraw draw;
  draw.indices = DrawCandidates(vectors.transpose(), /*orthonormal=*/!low, values[subset.back()], values[0], random);
  std::optional<double> log_determinant = LogDeterminantOf(kernel(draw.indices, draw.indices));
  if (!log_determinant && low) log_determinant = LogDeterminantOfFeatures(low->factor(draw.indices, Eigen::all));
  if (!log_determinant) return the_long_way();  // it needs all vectors
  draw.log_determinant = *log_determinant;
  return draw;
}

absl::StatusOr<double> KDpp::TotalVariation(int k) const {
  if (const absl::Status status = CheckSize(k); !status.ok()) return status;
  return rest_trace_ == 0 ? 0 : std::min(1.0, rest_trace_ * std::exp(EigenvalueSubset(log_values_, k).LogRatio()));
}

}  // namespace fidelio
