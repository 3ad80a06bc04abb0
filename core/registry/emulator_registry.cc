#include "core/registry/emulator_registry.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/bytes.h"
#include "core/base/status_macros.h"
#include "core/emulator/transformed_emulator.h"

namespace fidelio {
namespace {

// A local variable: registrations of other files may run before those of this file would.
std::vector<EmulatorMethod>& Registered() {
  static auto* const methods = new std::vector<EmulatorMethod>;
  return *methods;
}

absl::StatusOr<std::unique_ptr<MixtureEmulator>> LoadFitted(absl::string_view checkpoint) {
  const uint32_t kind = ByteReader::KindOf(checkpoint);
  for (const EmulatorMethod& method : Registered()) {
    if (method.checkpoint_kind == kind) return method.load(checkpoint);
  }
  // Damaged bytes may name any kind.
  constexpr uint32_t kAnyVersion = std::numeric_limits<uint32_t>::max();
  FIDELIO_RETURN_IF_ERROR(ByteReader::Open(checkpoint, kind, kAnyVersion, "checkpoint of a model").status());
  return absl::InvalidArgumentError(
      absl::StrCat("checkpoint is of kind ", kind, ", which no method of this program has"));
}

// Whether a number always goes with the same value, and the value with the same number.
template <typename Number, typename Value>
bool Agree(std::map<Number, Value>& values, Number number, const Value& value) {
  return values.emplace(number, value).first->second == value;
}

}  // namespace

MethodRegistration::MethodRegistration(EmulatorMethod method) {
  std::vector<EmulatorMethod>& methods = Registered();
  const auto before = [](const EmulatorMethod& a, const EmulatorMethod& b) {
    return a.checkpoint_kind < b.checkpoint_kind;
  };
  methods.insert(std::upper_bound(methods.begin(), methods.end(), method, before), std::move(method));
}

absl::Span<const EmulatorMethod> EmulatorMethods() { return Registered(); }

absl::Status CheckEmulatorMethods() {
  std::set<std::string> names;
  std::set<uint32_t> bytes = {kTransformedEmulatorKind};
  std::set<std::pair<ModelKind, Inference>> uses;
  std::map<ModelKind, std::pair<std::string, bool>> kinds;
  std::map<std::string, ModelKind> kinds_by_name;
  std::map<Inference, std::string> inferences;
  std::map<std::string, Inference> inferences_by_name;
  for (const EmulatorMethod& method : Registered()) {
    const auto bad = [&](const auto&... what) {
      return absl::InternalError(absl::StrCat("method ", method.name, ": ", what...));
    };
    if (!names.insert(method.name).second) return bad("another method has this name");
    if (method.create == nullptr || method.resume == nullptr || method.load == nullptr || method.fit_bytes == nullptr) {
      return bad("create, resume, load or fit_bytes is missing");
    }
    std::set<std::string> options;
    for (const MethodOption& option : method.options) {
      if (!options.insert(option.name).second || !(option.least <= option.most)) {
        return bad("option ", option.name, " stands twice, or allows no value");
      }
    }
    for (const uint32_t kind : {method.checkpoint_kind, method.state_kind}) {
      if (kind == 0 || (kind >= 100 && kind < 200) || !bytes.insert(kind).second) {
        return bad("its kind of bytes, ", kind, ", is taken");
      }
    }
    for (const MethodUse& use : method.uses) {
      if (!uses.emplace(use.kind, use.inference).second || use.inference == Inference::kAuto) {
        return bad("its use as ", use.kind_name, " by ", use.inference_name, " is taken");
      }
      if (use.auto_rule && use.auto_rule->preference < 1) {
        return bad("preference ", use.auto_rule->preference, " of AUTO, want at least 1");
      }
      if (!Agree(kinds, use.kind, std::pair(std::string(use.kind_name), use.highest_only)) ||
          !Agree(kinds_by_name, std::string(use.kind_name), use.kind)) {
        return bad("kind ", use.kind_name, " differs from what another use says of it");
      }
      if (!Agree(inferences, use.inference, std::string(use.inference_name)) ||
          !Agree(inferences_by_name, std::string(use.inference_name), use.inference)) {
        return bad("inference ", use.inference_name, " differs from what another use says of it");
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<const EmulatorMethod*> FindEmulatorMethod(absl::string_view name) {
  std::string known;
  for (const EmulatorMethod& method : Registered()) {
    if (name == method.name) return &method;
    absl::StrAppend(&known, known.empty() ? "" : ", ", method.name);
  }
  return absl::NotFoundError(absl::StrCat("method \"", name, "\", want one of ", known));
}

absl::StatusOr<std::unique_ptr<Emulator>> LoadEmulator(absl::string_view checkpoint) {
  if (ByteReader::KindOf(checkpoint) != kTransformedEmulatorKind) return LoadFitted(checkpoint);
  return TransformedEmulator::Load(checkpoint, LoadFitted);
}

const MixtureEmulator& FittedModel(const Emulator& emulator) {
  const auto* transformed = dynamic_cast<const TransformedEmulator*>(&emulator);
  return transformed != nullptr ? transformed->base() : dynamic_cast<const MixtureEmulator&>(emulator);
}

}  // namespace fidelio
