// SpectralPath: a function drawn from a zero-mean Gaussian process with a stationary kernel of unit variance, or a
// product of such kernels, as a sum of W waves (random Fourier features; Rahimi & Recht 2007).
//
//   f(a) = W^(−½) Σ_j r_j cos(w_j·a + b_j)        E r_j² / 2 = p(w_j)/q(w_j),  b_j uniform,  w_j from q
//
// where p is the kernel's spectral measure: normal for RBF, Student's t with 2ν degrees of freedom for Matérn-ν, side
// by side for a product of kernels. (r cos(· + b) is cosine and sine with independent normal weights, so that f is
// Gaussian given the frequencies.) Each path has frequencies of its own: over paths, E f(a) = 0 and E f(a) f(a') = κ(a,
// a') exactly, whatever W; the larger W, the more Gaussian they are. In each factor half of the waves are drawn from p
// and half from p stretched, by up to 3.3 (normal) or 40 (Student's t); q is their mixture. Data determine what is
// coarse, and leave of a smooth function what waves far out in p say, 1e-8 of its variance perhaps: drawn from p alone,
// most paths would have none of them, and a few paths all the variance. A path can be evaluated anywhere, at a cost of
// O(W·D) per input.
//
// The reuse for another model: a prior path of every term of its kernel, and the update by the data (Matheron's rule),
//   f(x) + k(x, X)(K + σ²)⁻¹(y − f(X) − e),   e ~ N(0, σ²)
// gives posterior paths with exactly the posterior's mean and covariance (dgp/moments/moment_paths does so).
// Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_KERNEL_SPECTRAL_PATH_H_
#define FIDELIO_CORE_KERNEL_SPECTRAL_PATH_H_

#include <vector>

#include "core/base/random.h"
#include "core/base/types.h"
#include "core/kernel/kernel_family.h"

namespace fidelio {

// For every term of a kernel, unless a model needs many paths: it changes how Gaussian paths are, not their moments.
inline constexpr int kPathWaves = 256;

// A factor of the kernel: a function of `dimensions` columns of the inputs, all divided by their lengthscales.
struct SpectralFactor {
  KernelFamily family = KernelFamily::kRbf;
  int dimensions = 1;
};

class SpectralPath {
 public:
  // `factors` in the order of the columns; `waves` ≥ 1.
  SpectralPath(const std::vector<SpectralFactor>& factors, int waves, Random& random);

  // At the rows of a (n×D, D the sum of the dimensions).
  Vector Evaluate(const ConstMatrixRef& a) const;

 private:
  Matrix frequency_;  // D×W, in turns (2π) per unit
  Vector phase_;      // W, in turns
  Vector amplitude_;  // W
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_KERNEL_SPECTRAL_PATH_H_
