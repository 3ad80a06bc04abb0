// Laplace's approximation at the modes of a density, and how much each mode counts.
//
//   log Z = log p(z*) + ½ n log 2π − ½ log det H,         H: Hessian of −log p at the mode z*
//
// Parameters are in prior units. Eigenvalues of H count as at least 1, as if no posterior were wider than its prior.
// That holds for normal priors and convex likelihoods; in the tails of Student and inverse-gamma priors H can be
// smaller or negative, and the evidence is then an underestimate.
#ifndef FIDELIO_CORE_OPTIM_LAPLACE_H_
#define FIDELIO_CORE_OPTIM_LAPLACE_H_

#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/optim/hmc.h"

namespace fidelio {

struct Curvature {
  Vector values;  // n, at least 1
  Matrix vectors;
};

// Of a Hessian that need not be quite symmetric. INTERNAL when it has no eigenvalues.
absl::StatusOr<Curvature> MeasureCurvature(const ConstMatrixRef& hessian);

// log Z of a mode with that log density.
double LaplaceEvidence(double log_peak, const Vector& curvature);

// Coordinates in which the density is about isotropic.
HmcSpace WhitenedSpace(const Vector& mode, const Curvature& curvature);

// Weights ∝ Z^(1/temperature) that sum to 1: the largest `most` of them, without those below `least` of the sum of all. Where that
// would drop the first, it keeps `first` of that sum.
Vector WeightsByEvidence(const Vector& log_evidence, double temperature, int most, double least, double first = 0);

}  // namespace fidelio

#endif  // FIDELIO_CORE_OPTIM_LAPLACE_H_
