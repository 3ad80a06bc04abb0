// LowRankPart: the smooth part of a level, learned from all its observations, which complements the nearest neighbours.
//
// Nearest neighbours alone do badly where a function is smooth in many dimensions: all observations are far away, and each is
// a little informative. So the process is split exactly, by M of the observed inputs, the centres Z,
//
//   f(x) = φ(x)ᵀ v + r(x),   φ(x) = L⁻¹ k(Z,x),   L Lᵀ = k(Z,Z),   v ~ N(0, I),   cov r = k(x,x') − φ(x)ᵀ φ(x')
//
// and only r is approximated by nearest neighbours (a full-scale approximation; Gyger, Furrer & Sigrist 2024). With S_i the
// nearest before i in a random order, w_i and d_i the weights and variance of r's prediction from them,
// e_i = y_i − w_iᵀ y_S and g_i = φ_i − Φ_S w_i, the observations give v the posterior
//
//   v | y ~ N(P⁻¹ b, P⁻¹),   P = I + Σ g_i g_iᵀ / d_i,   b = Σ g_i e_i / d_i
//
// Centres are the pivots of a pivoted Cholesky factorisation of k, which leave the least of r. v is learned from all
// observations, or from a random 4,096 of them if there are more. Building takes O(N M² + min(N, 4096) (m³ + m² M + M²)) time and O(N M)
// memory. Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_NEIGHBOUR_LOW_RANK_PART_H_
#define FIDELIO_CORE_NEIGHBOUR_LOW_RANK_PART_H_

#include <vector>

#include "core/base/types.h"
#include "core/kernel/kernel_family.h"

namespace fidelio {

class LowRankPart {
 public:
  // k = amplitude·κ of the columns of `points` (D×N, inputs divided by lengthscales). `y`: without the prior mean, `noise`:
  // variances, N each. At most `most` ≥ 1 centres; `neighbours`: m.
  LowRankPart(KernelFamily kernel, double amplitude, const Matrix& points, const Vector& y, const Vector& noise,
              int neighbours, int most, int threads);

  int rank() const { return static_cast<int>(centres_.size()); }
  const std::vector<int>& centres() const { return centres_; }

  // φ of an input divided by lengthscales (D numbers): M.
  Vector Features(const double* scaled) const;
  // φ of observations: M columns each.
  const Matrix& features() const { return features_; }

  // C⁻¹ h with C Cᵀ = P: the part hᵀ v of a prediction has covariance Spread(h)ᵀ Spread(h'), and mean Spread(h)ᵀ mean().
  Vector Spread(const Vector& h) const;
  const Vector& mean() const { return mean_; }

  // Given ∂F/∂ Spread(h): ∂F/∂h; given ∂F/∂φ(x): ∂F/∂k(Z,x).
  Vector SpreadAdjoint(const Vector& bar) const;
  Vector FeaturesAdjoint(const Vector& bar) const;

 private:
  void FindCentres(const Matrix& points, const std::vector<int>& rows, int most, int threads);
  void Learn(const Matrix& points, const std::vector<int>& rows, const Vector& y, const Vector& noise, int neighbours,
             int threads);

  const KernelFamily kernel_;
  const double amplitude_;
  std::vector<int> centres_;
  Matrix inputs_;    // M×D: of the centres, divided by lengthscales
  Matrix root_;      // L, M×M
  Matrix features_;  // M×N
  Matrix factor_;    // C, M×M
  Vector mean_;      // C⁻¹ b
};

// How many centres at most fit the dimension and the numbers of observations of the levels that a stack takes: none in one and two
// dimensions, where neighbours are near, and otherwise as many as keep the memory for the observations below 256 MiB.
int LowRankFor(int dimension, const std::vector<int>& counts);

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_LOW_RANK_PART_H_
