// Inflation: what the variances of a model's highest level are multiplied by, because leave-one-out shows them to be too small.
//
// With r the mean squared standardised leave-one-out residual over n distinct inputs, of the mixture that predicts them:
//   factor = max(1, (k + n·r) / (k + n)),   k = kInflationPrior
// A factor estimated from few residuals is mostly chance, so it is shrunk towards 1 as by k residuals of a calibrated model: of
// five points, such a model is widened by 8 % in expectation, not by 24 %. From 0 to 15, k changes the coverage of 95 % intervals by less
// than .003 (`fidelio-bench problems`). Given noise is known and never multiplied.
// Sparse fits (VARIATIONAL, SVI) with more than 4,096 observations of the highest level have a factor of 1.
#ifndef FIDELIO_CORE_EMULATOR_INFLATION_H_
#define FIDELIO_CORE_EMULATOR_INFLATION_H_

#include "absl/status/statusor.h"
#include "core/base/bytes.h"
#include "core/emulator/emulator.h"
#include "core/emulator/mixture.h"

namespace fidelio {

inline constexpr double kInflationPrior = 10;

struct Inflation {
  double factor = 1;
  bool of_given_noise = false;  // only in models from before inflation was shrunk: they predict as they did

  // What given noise is to be divided by, so that the factor leaves it as given.
  double NoiseDivisor() const { return of_given_noise ? 1 : factor; }
};

// From the leave-one-out predictions of the highest level; 1 without any.
Inflation InflationOf(const LeaveOneOut& left_out);

// What models of older checkpoints were served with.
Inflation UnshrunkInflation(double mean_squared_residual);

// Widens a mixture about its mean, so that its whole variance grows by the factor.
void Inflate(double factor, Mixture& mixture);
// Takes derivatives with respect to the moments of the widened mixture back to those of the mixture with these weights.
void InflateAdjoints(double factor, const Vector& weights, Matrix& mean_bar, Matrix& variance_bar);

template <typename Bytes>
void Fields(Bytes& bytes, Inflation& inflation) {
  bytes(inflation.factor, inflation.of_given_noise);
}

inline void WriteInflation(const Inflation& inflation, ByteWriter& out) { out(inflation); }
inline Inflation ReadInflation(ByteReader& in) { return in.Read<Inflation>(); }
absl::Status CheckInflation(const Inflation& inflation);  // of one that was read

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_INFLATION_H_
