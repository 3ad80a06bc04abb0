// InitialDesign: inputs to run before there is a model, spread over a box, for each of several fidelities.
//
//   kSobol            scrambled Sobol' points, another scrambling for each level; those too near to inputs that the
//                     level has are skipped, so that the same seed goes on where it stopped
//   kLatinHypercube   with m inputs in the box already, each axis is cut into n + m cells, and the n new inputs take
//                     cells that none has, each at most once; cells are assigned so that the smallest distance is
//                     large (maximin)
//
// Nested: the inputs of a level are chosen among those of the next lower level that is designed or has inputs, each as
// far as possible from those that the level has and those chosen before it (greedy maximin). Distances are Euclidean,
// in units of the box. The result depends on the arguments alone. Free function without state: safe from every thread.
#ifndef FIDELIO_CORE_DESIGN_INITIAL_DESIGN_H_
#define FIDELIO_CORE_DESIGN_INITIAL_DESIGN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/export.h"
#include "core/base/types.h"
#include "core/data/dataset.h"

namespace fidelio {

enum class InitialMethod { kSobol, kLatinHypercube };

struct InitialLevel {
  int count = 0;                // of new inputs, ≥ 0
  Matrix existing;              // m×d: inputs that were observed or are being run; m may be 0
  std::string field = "count";  // what errors about `count` begin with
};

struct InitialDesignOptions {
  InitialMethod method = InitialMethod::kSobol;
  bool nested = false;
  uint64_t seed = 0;
  std::function<absl::Status()> check = {};  // asked now and then: its error ends the work
};

// One matrix per level, count×d, all rows different from each other and from what the level has; unless nested, from
// all other inputs, too. An input whose lower and upper bound agree has that value. INVALID_ARGUMENT when no input has
// a range, when the box has too few different points, or when a nested level has fewer inputs to choose from than it
// needs.
FIDELIO_EXPORT absl::StatusOr<std::vector<Matrix>> InitialDesign(const InputBox& box,
                                                                 const std::vector<InitialLevel>& levels,
                                                                 const InitialDesignOptions& options);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DESIGN_INITIAL_DESIGN_H_
