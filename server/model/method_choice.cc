#include "server/model/method_choice.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/model/enum_names.h"

namespace fidelio {
namespace {

std::vector<MethodChoice> ChoicesOf(ModelKind kind) {
  std::vector<MethodChoice> choices;
  for (const SupportedMethod& supported : SupportedMethods()) {
    const auto& [method, use] = supported;
    if (use->kind == kind) choices.push_back({method, use, use->inference, "requested"});
  }
  return choices;
}

// What AUTO takes of a kind's choices, of which there is at least one; none where no rule applies.
std::optional<MethodChoice> AutoChoice(const std::vector<MethodChoice>& choices, const std::vector<int64_t>& counts) {
  const MethodUse& any = *choices.front().use;
  const int first = any.highest_only && !counts.empty() ? static_cast<int>(counts.size()) - 1 : 0;
  const std::vector<int64_t> in_use(counts.begin() + first, counts.end());
  MethodChoice best = choices.front();
  best.reason =
      absl::StrCat("AUTO: ", choices.size() == 1 ? "the only inference of " : "the default of ", any.kind_name);
  int preference = 0;
  for (const MethodChoice& choice : choices) {
    const std::optional<AutoRule>& rule = choice.use->auto_rule;
    if (!rule || rule->preference <= preference) continue;
    std::string reason = rule->reason != nullptr ? rule->reason(in_use, first) : "the default of " + NameOf(any.kind);
    if (reason.empty()) continue;
    if (choices.size() > 1) {
      best = choice;
      best.reason = absl::StrCat("AUTO: ", reason);
    }
    preference = rule->preference;
  }
  return preference > 0 ? std::optional(best) : std::nullopt;
}

}  // namespace

absl::StatusOr<MethodChoice> ChooseMethod(ModelKind kind, Inference asked, const std::vector<int64_t>& counts) {
  const std::vector<MethodChoice> choices = ChoicesOf(kind);
  if (asked == Inference::kAuto && !choices.empty()) {
    if (const std::optional<MethodChoice> chosen = AutoChoice(choices, counts)) return *chosen;
  }
  std::vector<std::string> known = {NameOf(Inference::kAuto)};
  for (const MethodChoice& choice : choices) {
    if (choice.inference == asked) return choice;
    known.push_back(NameOf(choice.inference));
  }
  return absl::InvalidArgumentError(absl::StrCat("options.inference: ", NameOf(asked), ", but a model of kind ",
                                                 NameOf(kind), " has ", absl::StrJoin(known, ", ")));
}

const MethodUse* FindUse(ModelKind kind) {
  for (const EmulatorMethod& method : EmulatorMethods()) {
    for (const MethodUse& use : method.uses) {
      if (use.kind == kind) return &use;
    }
  }
  return nullptr;
}

bool LearnsFromHighestOnly(ModelKind kind) {
  const MethodUse* use = FindUse(kind);
  return use != nullptr && use->highest_only;
}

std::vector<SupportedMethod> SupportedMethods() {
  std::vector<SupportedMethod> methods;
  for (const EmulatorMethod& method : EmulatorMethods()) {
    for (const MethodUse& use : method.uses) methods.push_back({&method, &use});
  }
  std::sort(methods.begin(), methods.end(), [](const SupportedMethod& a, const SupportedMethod& b) {
    return std::tie(a.use->kind, a.use->inference) < std::tie(b.use->kind, b.use->inference);
  });
  return methods;
}

std::vector<ModelKind> SupportedKinds() {
  std::vector<ModelKind> kinds;
  for (const SupportedMethod& method : SupportedMethods()) {
    if (kinds.empty() || kinds.back() != method.use->kind) kinds.push_back(method.use->kind);
  }
  return kinds;
}

std::vector<Inference> SupportedInferences() {
  std::vector<Inference> inferences = {Inference::kAuto};
  for (const SupportedMethod& method : SupportedMethods()) inferences.push_back(method.use->inference);
  std::sort(inferences.begin(), inferences.end());
  inferences.erase(std::unique(inferences.begin(), inferences.end()), inferences.end());
  return inferences;
}

}  // namespace fidelio
