// The registry of methods that fit emulators, and of which method reads which bytes. It knows no method by name: those that are part of the
// program register themselves (core/registry/emulator_method.h) before main begins.
//
// Free functions; the registry does not change once main has begun: safe from every thread.
#ifndef FIDELIO_CORE_REGISTRY_EMULATOR_REGISTRY_H_
#define FIDELIO_CORE_REGISTRY_EMULATOR_REGISTRY_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/export.h"
#include "core/emulator/emulator.h"
#include "core/emulator/mixture_emulator.h"
#include "core/registry/emulator_method.h"

namespace fidelio {

// All of them, in ascending order of checkpoint_kind: "mf_dgp" is the first.
FIDELIO_EXPORT absl::Span<const EmulatorMethod> EmulatorMethods();

// OK when names and numbers of all methods are unique and agree with each other. INTERNAL otherwise: programs check it once.
FIDELIO_EXPORT absl::Status CheckEmulatorMethods();

// NOT_FOUND lists the known names.
FIDELIO_EXPORT absl::StatusOr<const EmulatorMethod*> FindEmulatorMethod(absl::string_view name);

// What Emulator::Save of any model wrote, TransformedEmulator included. DATA_LOSS for damaged bytes, INVALID_ARGUMENT for whole
// ones of a method or a version that this program does not have.
FIDELIO_EXPORT absl::StatusOr<std::unique_ptr<Emulator>> LoadEmulator(absl::string_view checkpoint);

// The fitted model within an emulator that LoadEmulator or a fit gave: itself, or what a TransformedEmulator wraps.
FIDELIO_EXPORT const MixtureEmulator& FittedModel(const Emulator& emulator);

}  // namespace fidelio

#endif  // FIDELIO_CORE_REGISTRY_EMULATOR_REGISTRY_H_
