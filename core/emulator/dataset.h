// Dataset: what a model learns from — observations of several fidelities, in the user's units.
//
// Level 0 is the lowest fidelity. Inputs of different levels need not be nested. A level may be empty, except level 0.
#ifndef FIDELIO_CORE_EMULATOR_DATASET_H_
#define FIDELIO_CORE_EMULATOR_DATASET_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "core/base/export.h"
#include "core/base/types.h"

namespace fidelio {

// The observations of one fidelity.
struct LevelData {
  Matrix x;  // n×d
  Vector y;  // n
  // Noise variance in units of y². Empty: one variance for the level is learned. Otherwise one value ≥ 0 per point, and
  // nothing is learned (a noise that is known and the same everywhere: the same value n times).
  Vector noise_variance;
};

// The box that inputs live in. Predictions outside are allowed; the box only sets the scale of the inputs.
struct InputBox {
  Vector lower;  // d
  Vector upper;  // d, each above lower
};

struct Dataset {
  std::vector<LevelData> levels;
  std::optional<InputBox> box;  // absent: the range of the observed inputs

  int dimension() const { return levels.empty() ? 0 : static_cast<int>(levels[0].x.cols()); }
};

// OK, or INVALID_ARGUMENT naming the field, its value and the rule (FAILED_PRECONDITION when level 0 has no data).
FIDELIO_EXPORT absl::Status Validate(const Dataset& data);

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_DATASET_H_
