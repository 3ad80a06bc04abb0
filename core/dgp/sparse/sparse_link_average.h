// What a linked layer of a SparsePosterior says about several inputs at once, averaged over the layer below.
//
// With f = μ + σ ξ below at each input, ξ jointly normal with correlations R, and g the layer: by Mehler's formula,
//   E[a(x, f) b(x', f')] = Σ_h a_h(x) b_h(x') R(x, x')^h,      a_h(x) = E[a(x, μ + σ ξ) H_h(ξ)]
// with Hermite polynomials of unit norm. Here ξ takes the values of nine Gauss–Hermite nodes, which have h ≤ 8; so for α = L⁻¹k(Z, ·)
// (sparse_posterior.h) and nodes p, q of weights w
//   own    = E[cov(g, g' | f, f')] = Σ_h R^h ∘ [ Σ_pq w_p H_h(ξ_p) w_q H_h(ξ_q) k((x, f_p), (x', f'_q)) + α_hᵀ(SSᵀ − I)α_h' ]
//   curved = the part of Cov(E[g | f], E[g' | f']) that is not linear in f = Σ_{h≥2} R^h ∘ (mᵀα_h)(mᵀα_h')
// Both are positive semi-definite by Schur's product theorem, whatever the nodes miss, and own(x, x) is the average of the
// layer's variance over the nodes. Exact for a Gaussian layer below, up to the nodes.
#ifndef FIDELIO_CORE_DGP_SPARSE_SPARSE_LINK_AVERAGE_H_
#define FIDELIO_CORE_DGP_SPARSE_SPARSE_LINK_AVERAGE_H_

#include "core/base/types.h"
#include "core/dgp/sparse/sparse_posterior.h"

namespace fidelio {

// f of the layer below at n inputs.
struct LinkInput {
  Vector mean, sd;     // n
  Matrix correlation;  // n×n, ones on the diagonal
};

struct LinkAverage {
  Matrix own, curved;  // n×n
};

// Of the linked layer t at the rows of x (n×D, scaled). O(n² M).
LinkAverage AverageOverLink(const SparsePosterior& posterior, int t, const Matrix& x, const LinkInput& below,
                            int threads);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_SPARSE_SPARSE_LINK_AVERAGE_H_
