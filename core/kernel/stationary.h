// Stationary kernels with unit variance, as functions κ(s) of the squared scaled distance
//
//   s(x,x') = Σ_d (a_d − a'_d)²,   a_d = x_d / ℓ_d
//   RBF          κ = exp(−s/2)                         κ' = −κ/2
//   Matérn-1/2   κ = exp(−r),              r = √s      κ' = −1/(2r) exp(−r)
//   Matérn-3/2   κ = (1+r) exp(−r),        r = √(3s)   κ' = −3/2 exp(−r)
//   Matérn-5/2   κ = (1+r+r²/3) exp(−r),   r = √(5s)   κ' = −5/6 (1+r) exp(−r)
//
// Limits: κ(0) = 1, κ(∞) = 0, and κ' is finite at 0 for all but Matérn-1/2, whose κ' there is a number so large that it stands
// out, and finite: products with differences of coincident inputs, which are 0, are 0.
//
// Symmetric matrices are worked on as *packed pairs*: the strict lower triangle, column by column, so that one vector
// instruction stream covers them. R points have PairCount(R) pairs.
#ifndef FIDELIO_CORE_KERNEL_STATIONARY_H_
#define FIDELIO_CORE_KERNEL_STATIONARY_H_

#include "core/base/types.h"
#include "core/kernel/kernel_family.h"

namespace fidelio {

using ArrayRef = Eigen::Ref<Eigen::ArrayXd>;
using ConstArrayRef = Eigen::Ref<const Eigen::ArrayXd>;

inline Eigen::Index PairCount(Eigen::Index points) { return points * (points - 1) / 2; }

// Squared distances of all pairs of rows of `a` (R×D).
void PairDistances(const Matrix& a, Eigen::ArrayXd& s);

// Replaces squared distances by κ(s) and, where `derivative` is given, fills it with κ'(s).
void EvaluateRadial(KernelFamily family, ArrayRef s, Eigen::ArrayXd* derivative);

// Given w = ∂F/∂s for all pairs: adds ∂F/∂a to a_bar (R×D).
void AccumulatePairInputGradient(const Matrix& a, const Eigen::ArrayXd& w, Matrix& a_bar);

// Given w = ∂F/∂s for all pairs: ∂F/∂log ℓ_d = −2 Σ w (a_d − a'_d)², added to `gradient` (D values).
void AccumulatePairLengthscaleGradient(const Matrix& a, const Eigen::ArrayXd& w, Eigen::Ref<Vector> gradient);

// Squared distances between the rows of `a` (R×D) and of `b` (M×D): R×M.
void CrossDistances(const Matrix& a, const Matrix& b, Matrix& s);

// amplitude·κ between the rows of `a` (R×D) and of `b` (M×D), both divided by the lengthscales: R×M.
void CrossKernel(KernelFamily family, double amplitude, const Matrix& a, const Matrix& b, Matrix& k);

// κ between such rows, and κ'(s): R×M each.
void CrossKernelWithSlope(KernelFamily family, const Matrix& a, const Matrix& b, Matrix& kernel, Matrix& slope);

// Given w = ∂F/∂s (R×M): adds ∂F/∂b to b_bar (M×D).
void AccumulateCrossInputGradient(const Matrix& a, const Matrix& b, const Matrix& w, Matrix& b_bar);

}  // namespace fidelio

#endif  // FIDELIO_CORE_KERNEL_STATIONARY_H_
