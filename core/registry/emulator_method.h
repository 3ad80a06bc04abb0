// EmulatorMethod: everything that Fidelio knows about a method that fits emulators. A method registers itself from its folder:
//
//   const MethodRegistration kMyMethod({.name = "my_method", …});      // core/my_method/register.cc
//
// From then on it is served: the server's tables of kinds and inferences, the check of its options, stored records,
// GetServerInfo and the documents read the registry (core/registry/emulator_registry.h). CONTRIBUTING.md, "Add a model", has
// the steps.
#ifndef FIDELIO_CORE_REGISTRY_EMULATOR_METHOD_H_
#define FIDELIO_CORE_REGISTRY_EMULATOR_METHOD_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/export.h"
#include "core/data/dataset.h"
#include "core/emulator/emulator_fit.h"
#include "core/emulator/fit_options.h"
#include "core/emulator/mixture_emulator.h"
#include "core/registry/model_kind.h"

namespace fidelio {

// Stable: a release keeps its options and reads its models. Experimental: it may change or go in any release.
enum class Maturity { kStable = 1, kExperimental = 2 };

// An option that not every method has.
struct MethodOption {
  const char* name;  // [a-z_]+; the field of fidelio.v1.FitOptions if there is one
  const char* help;  // for people, a phrase: "training steps"
  double least;      // the smallest and the largest value that is allowed
  double most;
  const char* standard;  // the default, for people: "35000, as published"
  bool whole = true;     // whole numbers only
  // Where a value goes. Absent: to FitOptions::method_options.
  void (*set)(double value, FitOptions& options) = nullptr;
};

// When AUTO takes a use of a method.
struct AutoRule {
  int preference;    // of a kind's uses whose rules apply, AUTO takes the one of the highest preference
  const char* when;  // for people: "by default"
  // Why it applies to so many observations per level, the first of which is level `first` of the model; "" if it does not.
  // Absent: it always applies.
  std::string (*reason)(const std::vector<int64_t>& counts, int first) = nullptr;
};

// What a method is to users: an inference of a kind of model. Several uses, also of different methods, may share a kind or an
// inference; they must agree on its name.
struct MethodUse {
  ModelKind kind;
  const char* kind_name;  // as in fidelio.v1.ModelKind, without the prefix: "MF_DGP"
  Inference inference;    // not kAuto
  const char* inference_name;
  bool highest_only = false;               // the kind learns from the highest fidelity alone; the same for all its uses
  std::optional<AutoRule> auto_rule = {};  // absent: only on request
  void (*adjust)(FitOptions& options) = {};  // what this use changes in options before the fit
};

struct EmulatorMethod {
  const char* name;  // in benches and messages, unique
  Maturity maturity = Maturity::kStable;
  // Kinds of sealed bytes (core/base/bytes.h), unique: of Save and of SaveState. 100 to 199 are the server's.
  uint32_t checkpoint_kind;
  uint32_t state_kind;
  std::vector<MethodUse> uses = {};
  std::vector<MethodOption> options = {};

  absl::StatusOr<std::unique_ptr<EmulatorFit>> (*create)(const Dataset& data, const FitOptions& options);
  // Continues what SaveState wrote; `data` is what the fit was created with, for those that did not write it.
  absl::StatusOr<std::unique_ptr<EmulatorFit>> (*resume)(absl::string_view state, const Dataset& data, int threads);
  absl::StatusOr<std::unique_ptr<MixtureEmulator>> (*load)(absl::string_view checkpoint);
  // An estimate of the memory, in bytes, of a fit of this many observations per level with these options.
  double (*fit_bytes)(const std::vector<int64_t>& counts, int dimension, const FitOptions& options);
};

// Registers a method. Only for objects with static storage: whoever reads the registry takes it for complete.
class FIDELIO_EXPORT MethodRegistration {
 public:
  explicit MethodRegistration(EmulatorMethod method);
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_REGISTRY_EMULATOR_METHOD_H_
