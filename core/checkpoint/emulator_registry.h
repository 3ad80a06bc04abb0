// The methods that fit emulators, by name, and whose bytes are whose: the one table that a new kind of model joins.
//
//   mf_dgp               the multi-fidelity deep Gaussian process, inference MOMENTS
//   mf_dgp_variational   the paper's sparse variational layers, inference VARIATIONAL
//   mf_dgp_svi           the same, trained as published, inference SVI
//   mf_dgp_neighbours    the same model for very many observations, inference NEIGHBOURS
//   ar1                  classic models (core/baseline/baseline_method.h), as those that follow
//   ar1_recursive
//   nargp
//   deep_mf
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CORE_CHECKPOINT_EMULATOR_REGISTRY_H_
#define FIDELIO_CORE_CHECKPOINT_EMULATOR_REGISTRY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/export.h"
#include "core/data/dataset.h"
#include "core/emulator/emulator.h"
#include "core/emulator/emulator_fit.h"
#include "core/emulator/fit_options.h"
#include "core/emulator/mixture_emulator.h"

namespace fidelio {

struct EmulatorMethod {
  const char* name;
  uint32_t checkpoint_kind;  // of the bytes of Save (core/base/bytes.h)
  uint32_t state_kind;       // of the bytes of SaveState

  absl::StatusOr<std::unique_ptr<EmulatorFit>> (*create)(const Dataset& data, const FitOptions& options);
  // Continues what SaveState wrote; `data` is what the fit was created with, for those that did not write it.
  absl::StatusOr<std::unique_ptr<EmulatorFit>> (*resume)(absl::string_view state, const Dataset& data, int threads);
  absl::StatusOr<std::unique_ptr<MixtureEmulator>> (*load)(absl::string_view checkpoint);
  // An estimate of the memory, in bytes, of a fit of this many observations per level with these options.
  double (*fit_bytes)(const std::vector<int64_t>& counts, int dimension, const FitOptions& options);
};

// All of them; "mf_dgp" is the first.
FIDELIO_EXPORT absl::Span<const EmulatorMethod> EmulatorMethods();

// NOT_FOUND names those that there are.
FIDELIO_EXPORT absl::StatusOr<const EmulatorMethod*> FindEmulatorMethod(absl::string_view name);

// What Emulator::Save of any model wrote, TransformedEmulator included. DATA_LOSS or INVALID_ARGUMENT otherwise.
FIDELIO_EXPORT absl::StatusOr<std::unique_ptr<Emulator>> LoadEmulator(absl::string_view checkpoint);

// The fitted model within an emulator that LoadEmulator or a fit gave: itself, or what a TransformedEmulator wraps.
FIDELIO_EXPORT const MixtureEmulator& FittedModel(const Emulator& emulator);

}  // namespace fidelio

#endif  // FIDELIO_CORE_CHECKPOINT_EMULATOR_REGISTRY_H_
