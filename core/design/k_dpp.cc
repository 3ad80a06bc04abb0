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
constexpr uint32_t kStream = 0xd99;  // of a seed

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

// log det(a) in extended precision; nothing when a is not positive definite.
std::optional<double> ExtendedLogDeterminant(const Matrix& a) {
  using Extended = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  const Eigen::LLT<Extended> cholesky(a.cast<long double>());
  if (cholesky.info() != Eigen::Success) return std::nullopt;
  return static_cast<double>(2 * cholesky.matrixLLT().diagonal().array().log().sum());
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

}  // namespace

KDpp::KDpp(Vector values, Matrix vectors, bool orthonormal, const KDppOptions& options)
    : values_(std::move(values)),
      log_values_(values_.array().log()),
      vectors_(std::move(vectors)),
      orthonormal_(orthonormal),
      options_(options) {}

absl::StatusOr<KDpp> KDpp::FromKernel(Matrix kernel, const KDppOptions& options) {
  if (const absl::Status status = CheckKernel(kernel, options.threads); !status.ok()) return status;
  const std::optional<LowRank> low = LowRankFactor(kernel, options);
  absl::StatusOr<KDpp> dpp = low ? FromDual(low->factor, options) : FromEigenvectors(kernel, options);
  if (!dpp.ok()) return dpp;
  dpp->rest_trace_ = low ? low->rest_trace : 0;
  const int k = options.largest_k;
  if (k > 0 && k <= dpp->rank() && dpp->rest_trace_ * std::exp(LogRatio(dpp->values_, k)) > options.tolerance) {
    // The norms of columns promised too much.
    dpp = FromKernel(std::move(kernel), {.threads = options.threads});
    if (dpp.ok()) dpp->options_ = options;
    return dpp;
  }
  dpp->kernel_ = std::move(kernel);
  return dpp;
}

absl::StatusOr<KDpp> KDpp::FromFactor(const Matrix& factor, const KDppOptions& options) {
  if (!factor.allFinite()) return absl::InvalidArgumentError("factor: must be finite");
  if (factor.cols() > factor.rows()) return FromKernel(factor * factor.transpose(), options);
  return FromDual(factor, options);
}

absl::StatusOr<KDpp> KDpp::FromDual(const Matrix& factor, const KDppOptions& options) {
  const Index r = factor.cols();
  Matrix dual(r, r);
  MultiplyOnThreads(options.threads, Part::kLower, 1, factor.transpose(), factor, Write::kSet, dual);
  SymmetricEigen eigen = EigenOfSymmetric(dual, options.threads);
  Index rank = 0;
  const double rounding = r == 0 ? 0 : static_cast<double>(r) * kEpsilon * eigen.values[0];
  while (rank < r && eigen.values[rank] > rounding) ++rank;
  const Vector values = eigen.values.head(rank);
  Matrix scaled = eigen.vectors.leftCols(rank) * values.cwiseSqrt().cwiseInverse().asDiagonal();
  Matrix vectors(factor.rows(), rank);
  MultiplyOnThreads(options.threads, Part::kAll, 1, factor, scaled, Write::kSet, vectors);
  if (!vectors.allFinite()) return absl::InternalError("kernel: its eigenvectors are not finite");
  return KDpp(values, std::move(vectors), /*orthonormal=*/false, options);
}

absl::StatusOr<KDpp> KDpp::FromEigenvectors(const Matrix& kernel, const KDppOptions& options) {
  const Index n = kernel.rows();
  SymmetricEigen eigen = EigenOfSymmetric(kernel, options.threads);
  Index rank = 0;
  const double rounding = n == 0 ? 0 : static_cast<double>(n) * kEpsilon * eigen.values[0];
  while (rank < n && eigen.values[rank] > rounding) ++rank;
  if (!eigen.vectors.allFinite()) return absl::InternalError("kernel: its eigenvectors are not finite");
  eigen.vectors.conservativeResize(Eigen::NoChange, rank);
  return KDpp(eigen.values.head(rank), std::move(eigen.vectors), /*orthonormal=*/true, options);
}

absl::Status KDpp::CheckSize(int k) const {
  if (k < 1) return absl::InvalidArgumentError(absl::StrCat("k: ", k, ", must be at least 1"));
  if (k > rank()) {
    return absl::InvalidArgumentError(
        absl::StrCat("k: ", k, ", but the kernel of ", candidates(), " candidates has the numerical rank ", rank()));
  }
  if (options_.largest_k > 0 && k > options_.largest_k) {
    return absl::InvalidArgumentError(
        absl::StrCat("k: ", k, ", but the kernel was factorised for at most ", options_.largest_k));
  }
  return absl::OkStatus();
}

absl::StatusOr<KDppDraw> KDpp::Sample(int k, uint64_t seed) const {
  if (const absl::Status status = CheckSize(k); !status.ok()) return status;
  Random random(seed, kStream);
  const std::vector<int> subset = EigenvalueSubset(log_values_, k).Draw(random);
  Matrix y = vectors_(Eigen::all, subset).transpose();
  // Vectors of the dual are orthonormal to rounding times the ratio of the largest eigenvalue to theirs.
  if (!orthonormal_ && values_[subset.back()] < 1e-6 * values_[0]) {
    const Eigen::HouseholderQR<Matrix> qr(y.transpose());
    y = (qr.householderQ() * Matrix::Identity(candidates(), k)).transpose();
  }
  KDppDraw draw;
  draw.indices = DrawProjectionDpp(y, random);
  std::sort(draw.indices.begin(), draw.indices.end());
  draw.log_determinant = LogDeterminant(draw.indices);
  return draw;
}

absl::StatusOr<Vector> KDpp::InclusionProbabilities(int k) const {
  if (const absl::Status status = CheckSize(k); !status.ok()) return status;
  return Vector(vectors_.cwiseAbs2() * EigenvalueSubset(log_values_, k).Probabilities());
}

absl::StatusOr<double> KDpp::LogNormaliser(int k) const {
  if (const absl::Status status = CheckSize(k); !status.ok()) return status;
  return EigenvalueSubset(log_values_, k).LogPolynomial();
}

absl::StatusOr<double> KDpp::TotalVariation(int k) const {
  if (const absl::Status status = CheckSize(k); !status.ok()) return status;
  return rest_trace_ == 0 ? 0 : std::min(1.0, rest_trace_ * std::exp(EigenvalueSubset(log_values_, k).LogRatio()));
}

double KDpp::LogDeterminant(const std::vector<int>& indices) const {
  constexpr double kWellConditioned = 1e-6;
  const auto rows = [&] { return Matrix(vectors_(indices, Eigen::all) * values_.cwiseSqrt().asDiagonal()); };
  Matrix part;
  if (kernel_.size() > 0) {
    part = kernel_(indices, indices);
  } else {
    const Matrix features = rows();
    part.noalias() = features * features.transpose();
  }
  const Eigen::LLT<Matrix> cholesky(part);
  const Vector diagonal = cholesky.matrixLLT().diagonal();
  const bool well = cholesky.info() == Eigen::Success &&
                    (diagonal.array().square() > kWellConditioned * part.diagonal().array()).all();
  if (well) return 2 * diagonal.array().log().sum();
  if (kernel_.size() > 0) {
    const std::optional<double> extended = ExtendedLogDeterminant(part);
    if (extended) return *extended;
  }
  // Features keep twice the digits of their products.
  const Eigen::HouseholderQR<Matrix> qr(rows().transpose());
  return 2 * qr.matrixQR().diagonal().cwiseAbs().array().log().sum();
}

}  // namespace fidelio
