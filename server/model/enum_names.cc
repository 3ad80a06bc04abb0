#include "server/model/enum_names.h"

#include "absl/strings/str_cat.h"
#include "server/model/method_choice.h"

namespace fidelio {

std::string NameOf(ModelKind kind) {
  const MethodUse* use = FindUse(kind);
  return use != nullptr ? use->kind_name : absl::StrCat("unknown (", static_cast<int>(kind), ")");
}

std::string NameOf(Inference inference) {
  if (inference == Inference::kAuto) return "AUTO";
  for (const EmulatorMethod& method : EmulatorMethods()) {
    for (const MethodUse& use : method.uses) {
      if (use.inference == inference) return use.inference_name;
    }
  }
  return absl::StrCat("unknown (", static_cast<int>(inference), ")");
}

const char* NameOf(OutputTransformKind kind) {
  switch (kind) {
    case OutputTransformKind::kIdentity:
      return "IDENTITY";
    case OutputTransformKind::kLog:
      return "LOG";
    case OutputTransformKind::kLogit:
      return "LOGIT";
    case OutputTransformKind::kBounded:
      return "BOUNDED";
  }
  return "unknown";
}

const char* NameOf(ObservationUpdate update) { return update == ObservationUpdate::kNone ? "NONE" : "CONDITION"; }

}  // namespace fidelio
