// Which of core's methods fits a model: by its kind, and by the inference that was asked for. The registry has all of them
// (core/registry/emulator_registry.h), and says which of a kind's inferences AUTO takes.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_SERVER_MODEL_METHOD_CHOICE_H_
#define FIDELIO_SERVER_MODEL_METHOD_CHOICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/registry/emulator_registry.h"
#include "server/model/model_types.h"

namespace fidelio {

struct MethodChoice {
  const EmulatorMethod* method = nullptr;
  const MethodUse* use = nullptr;
  Inference inference = Inference::kMoments;
  std::string reason = {};  // for people
};

// The method for a model with so many observations per fidelity. INVALID_ARGUMENT when its kind has no such inference.
absl::StatusOr<MethodChoice> ChooseMethod(ModelKind kind, Inference asked, const std::vector<int64_t>& counts);

// Any of the uses of a kind, which agree on its name and levels; null: this program does not have the kind.
const MethodUse* FindUse(ModelKind kind);

// Whether a kind learns from the highest fidelity alone. A kind that this program does not have: no.
bool LearnsFromHighestOnly(ModelKind kind);

// By kind, then by inference, in ascending order of their numbers.
std::vector<SupportedMethod> SupportedMethods();
std::vector<ModelKind> SupportedKinds();
std::vector<Inference> SupportedInferences();  // AUTO first

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_METHOD_CHOICE_H_
