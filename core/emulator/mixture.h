// Mixtures of Gaussians, one per query point: the form of all predictions.
//
// Component s at point i is N(mean(s,i), variance(s,i)) with weight weight[s]; weights sum to 1.
#ifndef FIDELIO_CORE_EMULATOR_MIXTURE_H_
#define FIDELIO_CORE_EMULATOR_MIXTURE_H_

#include <vector>

#include "core/base/types.h"
#include "core/emulator/emulator.h"

namespace fidelio {

struct Mixture {
  Vector weight;    // S
  Matrix mean;      // S×n
  Matrix variance;  // S×n, positive
};

// Observations y_i and the mixtures that predict them, each with its own weights: weight is S×n, each column sums to 1.
struct ObservedMixtures {
  Vector y;
  Matrix weight, mean, variance;
  std::vector<int> group = {};  // as in LeaveOneOut
};

Vector MixtureMean(const Mixture& mixture);
Vector MixtureVariance(const Mixture& mixture, const Vector& mean);  // E[v] + Var[m]

// The mixture's CDF at one value per point.
Vector MixtureCdf(const Mixture& mixture, const Vector& at);

// The mixture's median, to about 1e-9 of its standard deviation, and the CDF at its mean, to about 1e-12: much faster than
// MixtureQuantiles.
struct Medians {
  Vector median;
  Vector mean_cdf;
};
Medians MixtureMedians(const Mixture& mixture, const Vector& mean);

// For these inputs and options, with room for everything that is wanted.
Prediction RoomFor(const Matrix& x, const PredictOptions& options);

// Sets these of the points begin, begin + 1, … of a prediction, whose vectors have their size.
void SetMedians(const Mixture& mixture, const Vector& mean, Eigen::Index begin, Prediction& prediction);

// n × probabilities: the x with CDF(x) = p, to about 1e-12 of the standard deviation.
Matrix MixtureQuantiles(const Mixture& mixture, const std::vector<double>& probabilities);

// log Σ_s w_s N(y_i; m_si, v_si).
Vector MixtureLogDensity(const Mixture& mixture, const Vector& y);

// Summarises the mixtures at their y.
LeaveOneOut Summarise(const ObservedMixtures& observed);

// The mean over the distinct inputs of (y − mean)²/variance.
double MeanSquaredResidual(const LeaveOneOut& left_out);

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_MIXTURE_H_
