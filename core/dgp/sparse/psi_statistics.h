// PsiStatistics: expectations of a linked layer's kernel (layer_kernel.h) where f_{t−1} is Gaussian, in closed form.
//
// With f ~ N(m, v) at x, g = s2, and p(z) = vf·√(l²/(l²+v))·exp(−(m−z)²/2(l²+v)), the link's part h(z) = g·f·z + k_f(f, z) has
//   E[h(z)]       = g·m·z + p(z)
//   E[h(z)h(z')]  = g²(m²+v)zz' + g·z·p(z')(m l²+z'v)/(l²+v) + (z↔z')
//                   + vf²·√(l²/(l²+2v))·exp(−(z−z')²/4l² − (m−(z+z')/2)²/(l²+2v))
// and k(Z, (x, f)) = κ_ρ·h + vd·κ_δ. Limits: v = 0 gives the kernel itself. Shapes: M inducing points, n inputs.
#ifndef FIDELIO_CORE_DGP_SPARSE_PSI_STATISTICS_H_
#define FIDELIO_CORE_DGP_SPARSE_PSI_STATISTICS_H_

#include "core/base/types.h"
#include "core/dgp/sparse/layer_kernel.h"

namespace fidelio {

struct PsiStatistics {
  Vector zero;  // E[k((x, f), (x, f))], n
  Matrix one;   // E[k(Z, (x, f))], M×n
  Matrix two;   // Σ_i weight_i E[k(Z, (x_i, f)) k((x_i, f), Z)], M×M

  // z: M×D, zf: M; x: n×D, mean, variance and weight: n. The shape must be linked.
  PsiStatistics(const LayerShape& shape, const Vector& theta, const Matrix& z, const Vector& zf, const Matrix& x,
                const Vector& mean, const Vector& variance, const Vector& weight);
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_SPARSE_PSI_STATISTICS_H_
