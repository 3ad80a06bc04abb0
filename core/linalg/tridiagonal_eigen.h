// Eigenvalues and eigenvectors of a symmetric tridiagonal matrix by divide and conquer (Cuppen 1981; Gu & Eisenstat
// 1995).
//
// Torn in the middle, the matrix is q₁d₁q₁ᵀ ⊕ q₂d₂q₂ᵀ plus a matrix of rank one, and its eigenvalues are the roots of
//
//   1 + Σ_i z_i² / (d_i − λ) = 0,      one between every two d_i
//
// (SecularRoots). Where z_i or a difference of two d_i is rounding, the eigenvector is known without it (deflation):
// matrices with clusters of eigenvalues, such as kernels, are the quick ones. The rest is matrix products.
// `fidelio-bench dpp` compares it with Eigen's QR iterations, which take 2 to 3 times as long for 1,000 rows.
#ifndef FIDELIO_CORE_LINALG_TRIDIAGONAL_EIGEN_H_
#define FIDELIO_CORE_LINALG_TRIDIAGONAL_EIGEN_H_

#include "core/base/types.h"
#include "core/linalg/symmetric_eigen.h"

namespace fidelio {

// `diagonal`: n, `beside`: the n−1 elements beside it. Values from the smallest up; of the vectors those that `choose`
// asks for, in its order: they are left out of the last merge, which is three quarters of the work. Results do not
// depend on the number of threads (0: all cores).
SymmetricEigen EigenOfTridiagonal(const Vector& diagonal, const Vector& beside, const ChooseVectors& choose,
                                  int threads);

}  // namespace fidelio

#endif  // FIDELIO_CORE_LINALG_TRIDIAGONAL_EIGEN_H_
