// JointFactor: the joint posterior of f at n inputs with a factor of low rank instead of its covariance C,
//
//   C = V Vᵀ + E,   E positive semi-definite,   |E_ij| ≤ √(E_ii E_jj) ≤ trace(E),   ‖E‖ ≤ trace(E)
//
// by pivoted Cholesky (linalg/pivoted_cholesky), until trace(E) is a given part of trace(C). It reads r and a few more columns of
// C, some at a time (Emulator::JointColumnsAt), and never the whole: O(n r) memory, O(n r²) time besides the columns. Samples of the
// posterior at the inputs are mean + V z; quantities of C that grow with it (determinants, reductions of variance) are
// bounded by V and E as KDpp shows.
#ifndef FIDELIO_CORE_DESIGN_JOINT_FACTOR_H_
#define FIDELIO_CORE_DESIGN_JOINT_FACTOR_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/export.h"
#include "core/base/types.h"
#include "core/emulator/emulator.h"

namespace fidelio {

struct JointFactorOptions {
  int level = -1;           // 0 ≤ level < levels(); −1: the highest fidelity
  double tolerance = 1e-6;  // ≥ 0: trace(E) is at most this part of trace(C), or what rounding leaves of it
  int largest_rank = 0;     // ≥ 0: columns of V at most, whatever the tolerance; 0: n
  int threads = 1;          // 0: all cores; results do not depend on it
  std::function<absl::Status()> check = {};  // asked now and then: its error ends the work
};

struct JointFactor {
  Vector mean;    // n
  Matrix factor;  // V, n×r
  Vector rest;    // diagonal of E: n, ≥ 0

  double error_bound() const { return rest.sum(); }  // trace(E)
};

// At the rows of x (n×d, n ≤ kMostJointInputs).
FIDELIO_EXPORT absl::StatusOr<JointFactor> FactoriseJoint(const Emulator& emulator, const Matrix& x,
                                                          const JointFactorOptions& options);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DESIGN_JOINT_FACTOR_H_
