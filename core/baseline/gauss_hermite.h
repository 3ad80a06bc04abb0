// GaussHermite: nodes and weights with Σ w_s g(ξ_s) = E[g(ξ)], ξ ~ N(0, 1), exact for polynomials of degree ≤ 2K − 1.
#ifndef FIDELIO_CORE_BASELINE_GAUSS_HERMITE_H_
#define FIDELIO_CORE_BASELINE_GAUSS_HERMITE_H_

#include "core/base/types.h"

namespace fidelio {

struct GaussHermite {
  Vector node, weight;  // K, ascending nodes
  // K×K: row k holds the k-th Hermite polynomial, normalised to E[H_k²] = 1, at the nodes. H diag(weight) Hᵀ = I.
  Matrix polynomial;

  explicit GaussHermite(int count);
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_GAUSS_HERMITE_H_
