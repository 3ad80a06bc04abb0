// LeftOut: the observations of a Gaussian, each predicted without itself and without its copies (equal inputs).
//
// With L Lᵀ the covariance of all observations, e = y − mean, and V_G the columns of L⁻¹ that belong to a group G of
// copies, the rest predicts y_G with covariance (V_Gᵀ V_G)⁻¹ and error (V_Gᵀ V_G)⁻¹ V_Gᵀ L⁻¹e: a least-squares problem,
// solved by V_G = Q R. Without copies: variance 1/[K⁻¹]_ii, error α_i/[K⁻¹]_ii. A group of all observations is
// predicted by the prior.
#ifndef FIDELIO_CORE_GP_LEFT_OUT_H_
#define FIDELIO_CORE_GP_LEFT_OUT_H_

#include <vector>

#include "core/base/types.h"

namespace fidelio {

using CopyGroups = std::vector<std::vector<int>>;  // EqualRows::copies: disjoint, of at least two observations each

struct LeftOut {
  Vector error;        // n: y − mean
  Vector variance;     // n, noise included
  Vector squared;      // n: error²/variance
  Vector log_density;  // n: log p(y_G | the rest) of the group that the observation belongs to; empty without copies
};

// `inverse`: L⁻¹, N×N lower triangular; `whitened`: L⁻¹e; `alpha`: K⁻¹e. The observations are the last n = N − begin;
// `copies` counts from `begin`.
LeftOut LeaveOut(const ConstMatrixRef& inverse, const ConstVectorRef& whitened, const ConstVectorRef& alpha, int begin,
                 const CopyGroups& copies);

// An orthonormal basis Q of V_G, N×|G|.
Matrix LeftOutBasis(const ConstMatrixRef& inverse, const std::vector<int>& group);

// Observations y at one input whose f is N(mean, variance), with independent noise.
struct SameInput {
  double y = 0, noise = 0;        // what they amount to: one observation with this noise variance
  double log_density_within = 0;  // log p(y_G | f) = this + log N(y; f, noise)
};
SameInput Combine(const Vector& y, const Vector& noise);

}  // namespace fidelio

#endif  // FIDELIO_CORE_GP_LEFT_OUT_H_
