// Dataset: the observations that a model is fitted to, at several fidelities, in the user's units.
//
// Level 0 is the lowest fidelity. Inputs of different levels need not be nested. Any level except level 0 may be empty.
#ifndef FIDELIO_CORE_DATA_DATASET_H_
#define FIDELIO_CORE_DATA_DATASET_H_

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
  // Noise variances in units of y². Empty: one variance for the level is learned. Otherwise one known value ≥ 0 per
  // point; for the same known noise everywhere, repeat the value n times.
  Vector noise_variance;
};

// The range of the inputs. The box only sets their scale; predictions outside it are allowed.
struct InputBox {
  Vector lower;  // d
  Vector upper;  // d, each above lower
};

struct Dataset {
  std::vector<LevelData> levels;
  std::optional<InputBox> box;  // absent: the range of the observed inputs

  int dimension() const { return levels.empty() ? 0 : static_cast<int>(levels[0].x.cols()); }
};

// As in core/base/bytes.h.
template <typename Bytes>
void Fields(Bytes& bytes, LevelData& level) {
  bytes(level.x, level.y, level.noise_variance);
}

template <typename Bytes>
void Fields(Bytes& bytes, InputBox& box) {
  bytes(box.lower, box.upper);
}

template <typename Bytes>
void Fields(Bytes& bytes, Dataset& data) {
  bytes(data.levels, data.box);
}

// OK, or INVALID_ARGUMENT naming the field, its value and the rule (FAILED_PRECONDITION when level 0 has no data).
FIDELIO_EXPORT absl::Status Validate(const Dataset& data);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DATA_DATASET_H_
