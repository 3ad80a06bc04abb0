// PathSamples: functions drawn from the posterior of an emulator at one level, which can be evaluated anywhere.
//
// Evaluating some inputs now and others later gives values of the same functions, as one call for all would. The cost is
// linear in the number of inputs, which is not limited. Means and covariances over many functions are those of
// Emulator::JointMoments. Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_EMULATOR_PATH_SAMPLES_H_
#define FIDELIO_CORE_EMULATOR_PATH_SAMPLES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/base/export.h"
#include "core/base/types.h"

namespace fidelio {

struct PathOptions {
  int level = -1;     // 0 ≤ level < levels(); −1: the highest fidelity
  int first = 0;      // ≥ 0: the functions first … first + count − 1 of a seed,
  int count = 1;      // ≥ 1; each function is the same whichever others are drawn with it
  uint64_t seed = 0;  // the same seed gives the same functions
  int threads = 1;    // 0: all cores; results do not depend on it
};

class FIDELIO_EXPORT PathSamples {
 public:
  virtual ~PathSamples() = default;

  // At the rows of x (n × input dimension): count × n, a function per row.
  virtual absl::StatusOr<Matrix> Evaluate(const Matrix& x) const = 0;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_PATH_SAMPLES_H_
