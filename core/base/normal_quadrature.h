// NormalQuadrature: Gauss–Hermite nodes and weights of the standard normal distribution.
//
//   E[g(ξ)] ≈ Σ_k w_k g(ξ_k),   exact for polynomials up to degree 2n − 1
//
// Nodes are symmetric and in ascending order; with an odd n, the middle one is exactly 0. Weights sum to 1.
#ifndef FIDELIO_CORE_BASE_NORMAL_QUADRATURE_H_
#define FIDELIO_CORE_BASE_NORMAL_QUADRATURE_H_

#include "core/base/types.h"

namespace fidelio {

struct NormalQuadrature {
  Vector node, weight;

  explicit NormalQuadrature(int n);  // n ≥ 1
};

// n×n: row k holds the k-th Hermite polynomial, normalised to E[H_k(ξ)²] = 1, at n nodes. With the nodes and weights of
// a rule, H diag(weight) Hᵀ = I.
Matrix HermitePolynomials(const Vector& node);

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASE_NORMAL_QUADRATURE_H_
