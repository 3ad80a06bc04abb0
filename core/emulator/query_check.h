// Checks of the arguments of every Emulator: OK, or INVALID_ARGUMENT naming the field, its value and the rule.
#ifndef FIDELIO_CORE_EMULATOR_QUERY_CHECK_H_
#define FIDELIO_CORE_EMULATOR_QUERY_CHECK_H_

#include <vector>

#include "absl/status/status.h"
#include "core/base/types.h"
#include "core/emulator/emulator.h"

namespace fidelio {

// Finite inputs of the model's dimension, and a valid level or −1.
absl::Status CheckQuery(const Emulator& model, const Matrix& x, int level);

// Each is a valid index of n rows.
absl::Status CheckColumns(const std::vector<int>& columns, Eigen::Index n);

// A valid level or −1; first ≥ 0 and count ≥ 1.
absl::Status CheckPaths(const Emulator& model, const PathOptions& options);

// At most kMostJointInputs rows.
absl::Status CheckJointSize(const Matrix& x);

// Both of these, and a valid level for every row.
absl::Status CheckJointQuery(const Emulator& model, const Matrix& x, const std::vector<int>& levels);

// Derivatives with respect to a mixture of `components` Gaussians at the rows of x (MixtureEmulator::MixtureGradient).
absl::Status CheckMixtureGradient(const Matrix& x, Eigen::Index components, const Matrix& mean_bar,
                                  const Matrix& variance_bar);

// Finite outputs, one per input.
absl::Status CheckOutputs(const Matrix& x, const Vector& y);

// Probabilities between 0 and 1.
absl::Status CheckQuantiles(const std::vector<double>& quantiles);

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_QUERY_CHECK_H_
