// KDpp: exact draws from k-DPPs (Kulesza & Taskar 2011) over n candidates with a positive semi-definite kernel L,
//
//   P(S) = det(L_S) / e_k(λ)     for every S of k candidates,
//
// where λ are the eigenvalues of L and e_k is the elementary symmetric polynomial. Large det(L_S) means candidates that
// are good (large L_ii) and diverse (small L_ij). The kernel is factorised once; draws of any k then cost
// O(n k + r k + k³ log k), r being its numerical rank.
//
// A kernel of low rank is first factorised to L = V Vᵀ + E by PivotedCholesky, and only the r×r matrix VᵀV (the dual
// representation) is diagonalised. What that leaves out is bounded: the distribution of k candidates changes by at most
//
//   ½ Σ_S |P(S) − P_V(S)| ≤ trace(E)·e_{k−1}/e_k
//
// by det(L_S) ≥ det((V Vᵀ)_S) and Fischer's inequality for the dual of L.
//
// Without Options::largest_k, factors go to the numerical rank, past which eigenvalues are rounding; with it, only so
// far that the bound is at most Options::tolerance for all k ≤ largest_k. Negative eigenvalues count as zero. Copies of
// a candidate never appear together.
//
// The same seed gives the same draw, on every machine: only projections on eigenvectors matter, not their signs. Where
// instruction sets differ in rounding, a draw can differ if a random number falls within rounding of a border, or where
// eigenvalues agree to rounding and their eigenvectors are not determined by L. Immutable; safe to share between
// threads.
#ifndef FIDELIO_CORE_DESIGN_K_DPP_H_
#define FIDELIO_CORE_DESIGN_K_DPP_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/export.h"
#include "core/base/types.h"

namespace fidelio {

struct KDppOptions {
  int largest_k = 0;        // draws have at most this k; 0: any k up to the rank
  double tolerance = 1e-8;  // with largest_k: the most by which the distribution may change, in total variation
  bool low_rank = true;     // false: always all eigenvectors of the kernel
  int threads = 1;          // of the factorisation; 0: all cores; results do not depend on it
};

struct KDppDraw {
  std::vector<int> indices;  // k candidates, ascending
  double log_determinant;    // log det(L_S)
};

class FIDELIO_EXPORT KDpp {
 public:
  // `kernel`: L, n×n. INVALID_ARGUMENT when it is not square, finite and symmetric with a diagonal ≥ 0, but for
  // rounding.
  static absl::StatusOr<KDpp> FromKernel(Matrix kernel, const KDppOptions& options = {});

  // FromKernel with largest_k = k, and a draw: the same one, sooner, because no other eigenvectors than its k are
  // computed.
  static absl::StatusOr<KDppDraw> SampleOnce(Matrix kernel, int k, uint64_t seed, const KDppOptions& options = {});

  int candidates() const { return static_cast<int>(vectors_.rows()); }
  int rank() const { return static_cast<int>(values_.size()); }
  // The eigenvalues that are kept, from the largest down: rank() of them.
  const Vector& values() const { return values_; }

  // Their eigenvectors, n×rank().
  const Matrix& vectors() const { return vectors_; }

  // INVALID_ARGUMENT, with the rank, when k < 1 or k > rank(); also when k > largest_k.
  absl::StatusOr<KDppDraw> Sample(int k, uint64_t seed) const;
  // The bound above on what was left out of the kernel; 0 when made of all eigenvectors. The same errors.
  absl::StatusOr<double> TotalVariation(int k) const;

 private:
  KDpp(Vector values, Matrix vectors, bool orthonormal, const KDppOptions& options);

  static absl::StatusOr<KDpp> FromDual(const Matrix& factor, const KDppOptions& options);
  static absl::StatusOr<KDpp> FromEigenvectors(const Matrix& kernel, const KDppOptions& options);
  absl::Status CheckSize(int k) const;

  Vector values_, log_values_;
  Matrix vectors_;    // n×rank()
  bool orthonormal_;  // to rounding; else those of small eigenvalues are so only roughly
  KDppOptions options_;
  double rest_trace_ = 0;
  Matrix kernel_;  // for determinants
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DESIGN_K_DPP_H_
