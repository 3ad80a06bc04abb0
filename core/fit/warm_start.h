// The model that a fit starts from.
#ifndef FIDELIO_CORE_FIT_WARM_START_H_
#define FIDELIO_CORE_FIT_WARM_START_H_

#include "absl/status/statusor.h"
#include "core/data/dataset.h"
#include "core/emulator/emulator.h"
#include "core/emulator/fit_options.h"

namespace fidelio {

// INVALID_ARGUMENT for none, which stands for a model of another method, and for one of another shape than the data.
absl::Status CheckWarmStart(const Emulator* model, const Dataset& data);

// options.warm_start as the method's own kind of model; none where there is no warm start.
template <typename Model>
absl::StatusOr<const Model*> WarmStartOf(const FitOptions& options, const Dataset& data) {
  if (options.warm_start == nullptr) return nullptr;
  const auto* model = dynamic_cast<const Model*>(options.warm_start);
  if (absl::Status status = CheckWarmStart(model, data); !status.ok()) return status;
  return model;
}

}  // namespace fidelio

#endif  // FIDELIO_CORE_FIT_WARM_START_H_
