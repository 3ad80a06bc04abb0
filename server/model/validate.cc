#include "server/model/validate.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "server/model/core_models.h"
#include "server/model/enum_names.h"
#include "server/model/method_choice.h"
#include "server/model/observation_history.h"
#include "server/model/variable_names.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr size_t kMaxDescription = 4096;
constexpr size_t kMaxFidelityName = 64;
constexpr size_t kMaxRequestId = 64;
constexpr int64_t kMostKeptRevisions = 1'000'000;

template <typename... Args>
absl::Status Invalid(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}

// OK when `value` is one of those that there are.
template <typename E>
absl::Status CheckSupported(absl::string_view field, E value, const std::vector<E>& supported) {
  if (std::find(supported.begin(), supported.end(), value) != supported.end()) return absl::OkStatus();
  return Invalid(field, ": ", NameOf(value), " is not available on this server; available: ",
                 absl::StrJoin(supported, ", ", [](std::string* out, E e) { absl::StrAppend(out, NameOf(e)); }));
}

bool IsIdentifier(absl::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-'; });
}

// As in JSON, so that 35000 and 100000000 stay as they are.
std::string NumberText(double value) { return absl::StrFormat("%.15g", value); }

absl::Status CheckBox(const InputBox& box, int64_t dimension) {
  for (const auto& [corner, field] : {std::pair(&box.lower, "lower"), std::pair(&box.upper, "upper")}) {
    if (corner->size() != dimension) {
      return Invalid("model.input_box.", field, ": ", corner->size(), " numbers, but input_dimension is ", dimension);
    }
    for (Index i = 0; i < corner->size(); ++i) {
      if (!std::isfinite((*corner)[i])) {
        return Invalid("model.input_box.", field, "[", i, "]: ", (*corner)[i], " is not a finite number");
      }
    }
  }
  for (Index i = 0; i < box.lower.size(); ++i) {
    if (!(box.upper[i] > box.lower[i])) {
      return Invalid("model.input_box.upper[", i, "]: ", box.upper[i], ", want a number above lower[", i,
                     "], which is ", box.lower[i]);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckFidelities(std::vector<FidelitySpec>& fidelities, int64_t most) {
  if (fidelities.empty() || static_cast<int64_t>(fidelities.size()) > most) {
    return Invalid("model.fidelities: ", fidelities.size(), " fidelities, want 1 to ", most);
  }
  std::set<std::string> names;
  for (size_t t = 0; t < fidelities.size(); ++t) {
    FidelitySpec& fidelity = fidelities[t];
    const std::string field = absl::StrCat("model.fidelities[", t, "]");
    if (fidelity.name.empty()) fidelity.name = absl::StrCat("level-", t);
    if (fidelity.name.size() > kMaxFidelityName || !IsIdentifier(fidelity.name)) {
      return Invalid(field, ".name: ", Quoted(fidelity.name), ", want at most ", kMaxFidelityName,
                     " characters of [A-Za-z0-9_.-]");
    }
    if (!names.insert(fidelity.name).second) {
      return Invalid(field, ".name: ", Quoted(fidelity.name), " is the name of another fidelity, want unique names");
    }
    if (!std::isfinite(fidelity.cost) || fidelity.cost <= 0) {
      return Invalid(field, ".cost: ", fidelity.cost, ", want a finite number above 0");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTransform(const OutputTransformSpec& transform) {
  FIDELIO_RETURN_IF_ERROR(
      CheckSupported("model.output_transform.kind", transform.kind, SupportedCapabilities().output_transforms));
  if (transform.kind == OutputTransformKind::kBounded) {
    for (const auto& [value, field] : {std::pair(transform.lower, "lower"), std::pair(transform.upper, "upper")}) {
      if (!std::isfinite(value))
        return Invalid("model.output_transform.", field, ": ", value, " is not a finite number");
    }
    if (transform.lower < transform.upper) return absl::OkStatus();
    return Invalid("model.output_transform.upper: ", transform.upper, ", want more than lower, ", transform.lower);
  }
  for (const auto& [value, field] : {std::pair(transform.lower, "lower"), std::pair(transform.upper, "upper")}) {
    if (value != 0) {
      return Invalid("model.output_transform.", field, ": ", value,
                     ", but only a BOUNDED transform has bounds: want 0");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckFinite(const std::string& field, const Matrix& values) {
  for (Index i = 0; i < values.rows(); ++i) {
    for (Index j = 0; j < values.cols(); ++j) {
      if (!std::isfinite(values(i, j))) {
        return Invalid(field, "[", i, ",", j, "]: ", values(i, j), " is not a finite number");
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBatch(const std::string& field, ObservationBatch& batch, absl::string_view model,
                        const ModelSpec& spec) {
  const auto fidelities = static_cast<int>(spec.fidelities.size());
  if (!batch.level) {
    if (fidelities > 1) {
      return Invalid(field, ".level: absent, but model ", Quoted(model), " has ", fidelities, " fidelities: want 0 to ",
                     fidelities - 1);
    }
    batch.level = 0;
  }
  if (*batch.level < 0 || *batch.level >= fidelities) {
    return Invalid(field, ".level: ", *batch.level, ", but model ", Quoted(model), " has ", fidelities,
                   " fidelities: want 0 to ", fidelities - 1);
  }
  const Index n = batch.inputs.rows();
  if (n < 1) return Invalid(field, ".inputs: no rows, want at least one point");
  if (batch.inputs.cols() != spec.input_dimension) {
    return Invalid(field, ".inputs: ", batch.inputs.cols(), " columns, but model ", Quoted(model),
                   " has input dimension ", spec.input_dimension);
  }
  if (batch.outputs.size() != n) {
    return Invalid(field, ".outputs: ", batch.outputs.size(), " values, but inputs has ", n, " rows");
  }
  Vector& noise = batch.noise_variances;
  if (noise.size() == 1 && n > 1) noise = Vector::Constant(n, noise[0]);
  if (noise.size() != 0 && noise.size() != n) {
    return Invalid(field, ".noise_variances: ", noise.size(), " values, want ", n,
                   " (one per row of inputs), 1 or none");
  }
  if (!batch.run_ids.empty() && static_cast<Index>(batch.run_ids.size()) != n) {
    return Invalid(field, ".run_ids: ", batch.run_ids.size(), " ids, want ", n, " (one per row of inputs) or none");
  }
  for (size_t i = 0; i < batch.run_ids.size(); ++i) {
    const std::string& id = batch.run_ids[i];
    if (!IsRunId(id)) {
      return Invalid(field, ".run_ids[", i, "]: ", Quoted(id), ", want 1 to ", kMaxRunIdBytes,
                     " characters of [A-Za-z0-9_.-]");
    }
    if (IsMadeRunId(id)) {
      return Invalid(field, ".run_ids[", i, "]: ", Quoted(id),
                     " has the form of the ids that the server makes; want another form, or no run_ids at all");
    }
  }
  FIDELIO_RETURN_IF_ERROR(CheckFinite(field + ".inputs", batch.inputs));
  FIDELIO_RETURN_IF_ERROR(CheckFinite(field + ".outputs", batch.outputs));
  FIDELIO_RETURN_IF_ERROR(CheckFinite(field + ".noise_variances", noise));
  if (const std::optional<OutputTransform> transform = TransformOf(spec)) {
    for (Index i = 0; i < n; ++i) {
      FIDELIO_RETURN_IF_ERROR(transform->Check(batch.outputs[i], absl::StrCat(field, ".outputs[", i, ",0]")));
    }
  }
  for (Index i = 0; i < noise.size(); ++i) {
    if (noise[i] < 0) return Invalid(field, ".noise_variances[", i, ",0]: ", noise[i], " is negative, want ≥ 0");
  }
  return absl::OkStatus();
}

}  // namespace

const Capabilities& SupportedCapabilities() {
  static const auto* const kCapabilities = new Capabilities{
      .methods = SupportedMethods(),
      .model_kinds = SupportedKinds(),
      .inferences = SupportedInferences(),
      .kernel_families = {KernelFamily::kRbf, KernelFamily::kMatern12, KernelFamily::kMatern32, KernelFamily::kMatern52,
                          std::nullopt},
      .observation_updates = {ObservationUpdate::kNone, ObservationUpdate::kCondition},
      .output_transforms = {OutputTransformKind::kIdentity, OutputTransformKind::kLog, OutputTransformKind::kLogit,
                            OutputTransformKind::kBounded},
  };
  return *kCapabilities;
}

absl::Status ValidateModelName(absl::string_view name, absl::string_view field) {
  const auto inner = [](char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-'; };
  if (!name.empty() && name.size() <= 63 && absl::ascii_islower(name.front()) && name.back() != '-' &&
      std::all_of(name.begin(), name.end(), inner)) {
    return absl::OkStatus();
  }
  return Invalid(field, ": ", Quoted(name), ", want [a-z]([a-z0-9-]{0,61}[a-z0-9])?");
}

absl::Status ValidateRequestId(absl::string_view id) {
  if (id.size() <= kMaxRequestId && IsIdentifier(id)) return absl::OkStatus();
  return Invalid("request_id: ", Quoted(id), ", want at most ", kMaxRequestId, " characters of [A-Za-z0-9_.-]");
}

absl::Status ValidateSpec(ModelSpec& spec, const ModelServiceOptions& options) {
  FIDELIO_RETURN_IF_ERROR(CheckSupported("model.kind", spec.kind, SupportedCapabilities().model_kinds));
  if (spec.description.size() > kMaxDescription) {
    return Invalid("model.description: ", spec.description.size(), " bytes, want at most ", kMaxDescription);
  }
  if (spec.input_dimension == 0) spec.input_dimension = static_cast<int64_t>(spec.inputs.size());
  if (spec.input_dimension < 1 || spec.input_dimension > options.max_input_dimension) {
    return Invalid("model.input_dimension: ", spec.input_dimension, ", want 1 to ", options.max_input_dimension);
  }
  if (spec.input_box) FIDELIO_RETURN_IF_ERROR(CheckBox(*spec.input_box, spec.input_dimension));
  FIDELIO_RETURN_IF_ERROR(CheckFidelities(spec.fidelities, options.max_fidelities));
  FIDELIO_RETURN_IF_ERROR(CheckTransform(spec.output_transform));
  if (spec.keep_revisions < 0 || spec.keep_revisions > kMostKeptRevisions) {
    return Invalid("model.keep_revisions: ", spec.keep_revisions, ", want 0 to ", kMostKeptRevisions);
  }
  return ValidateVariables(spec);
}

absl::Status ValidateFitSpec(const FitSpec& spec) {
  FIDELIO_RETURN_IF_ERROR(CheckSupported("options.inference", spec.inference, SupportedCapabilities().inferences));
  if (spec.budget_seconds && !(std::isfinite(*spec.budget_seconds) && *spec.budget_seconds > 0)) {
    return Invalid("options.budget.seconds: ", *spec.budget_seconds, ", want a finite number above 0");
  }
  if (spec.budget_iterations && *spec.budget_iterations <= 0) {
    return Invalid("options.budget.iterations: ", *spec.budget_iterations, ", want a number above 0");
  }
  if (spec.kernel_family && !IsKernelFamily(*spec.kernel_family)) {
    return Invalid("options.kernel_family: unknown (", static_cast<int>(*spec.kernel_family), ")");
  }
  return absl::OkStatus();
}

absl::Status ValidateMethodOptions(const FitSpec& spec, const MethodChoice& choice) {
  for (const auto& [name, value] : spec.method_options) {
    const std::vector<MethodOption>& options = choice.method->options;
    const auto option =
        std::find_if(options.begin(), options.end(), [&](const MethodOption& o) { return name == o.name; });
    if (option == options.end()) {
      const std::string known =
          absl::StrJoin(options, ", ", [](std::string* out, const MethodOption& o) { absl::StrAppend(out, o.name); });
      return Invalid("options.", IsIdentifier(name) ? name : Quoted(name), ": given, but inference ",
                     NameOf(choice.inference), " does not use it; its options: ", known.empty() ? "none" : known);
    }
    const bool whole = !option->whole || value == std::floor(value);
    if (!(value >= option->least && value <= option->most) || !whole) {
      return Invalid("options.", name, ": ", NumberText(value), ", want ",
                     option->whole && !whole ? "a whole number from " : "", NumberText(option->least), " to ",
                     NumberText(option->most));
    }
  }
  return absl::OkStatus();
}

bool IsRunId(absl::string_view id) { return !id.empty() && id.size() <= kMaxRunIdBytes && IsIdentifier(id); }

absl::Status ValidateCorrection(const Correction& correction, const ModelSpec& spec) {
  FIDELIO_RETURN_IF_ERROR(CheckFinite("outputs", correction.outputs));
  FIDELIO_RETURN_IF_ERROR(CheckFinite("noise_variances", correction.noise_variances));
  if (const std::optional<OutputTransform> transform = TransformOf(spec)) {
    for (Index i = 0; i < correction.outputs.size(); ++i) {
      FIDELIO_RETURN_IF_ERROR(transform->Check(correction.outputs[i], absl::StrCat("outputs[", i, ",0]")));
    }
  }
  for (Index i = 0; i < correction.noise_variances.size(); ++i) {
    const double v = correction.noise_variances[i];
    if (v < 0) return Invalid("noise_variances[", i, ",0]: ", v, " is negative, want ≥ 0");
  }
  return absl::OkStatus();
}

std::string InputName(const ModelSpec& spec, Index j) {
  return spec.inputs.empty() ? absl::StrCat("x", j + 1) : spec.inputs[static_cast<size_t>(j)].name;
}

absl::Status ValidateUpdate(ObservationUpdate update) {
  return CheckSupported("update", update, SupportedCapabilities().observation_updates);
}

absl::Status ValidateObservations(std::vector<ObservationBatch>& observations, absl::string_view model,
                                  const ModelSpec& spec, std::vector<LevelNoise>& noise,
                                  const ModelServiceOptions& options) {
  FIDELIO_RETURN_IF_ERROR(CheckKnownTransform(model, spec));
  if (observations.empty()) return Invalid("observations: none, want at least one batch");
  int64_t points = 0;
  for (size_t b = 0; b < observations.size(); ++b) {
    ObservationBatch& batch = observations[b];
    const std::string field = absl::StrCat("observations[", b, "]");
    FIDELIO_RETURN_IF_ERROR(CheckBatch(field, batch, model, spec));
    points += batch.inputs.rows();
    if (points > options.max_batch) {
      return Invalid("observations: more than ", options.max_batch, " points in one call; send them in several");
    }
    LevelNoise& known = noise[static_cast<size_t>(*batch.level)];
    const LevelNoise now = batch.noise_variances.size() > 0 ? LevelNoise::kGiven : LevelNoise::kLearned;
    if (known != LevelNoise::kNoData && known != now) {
      return Invalid(field, ".noise_variances: ", now == LevelNoise::kGiven ? "given" : "absent",
                     ", but the observations that level ", *batch.level, " has are ",
                     known == LevelNoise::kGiven ? "with" : "without",
                     " variances: all observations of a level have known variances, or none has");
    }
    known = now;
  }
  return absl::OkStatus();
}

}  // namespace fidelio
