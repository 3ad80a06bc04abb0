#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/model/fit_info.h"
#include "server/rpc/convert.h"
#include "server/rpc/enums.h"
#include "server/rpc/errors.h"
#include "server/rpc/names.h"

namespace fidelio {
namespace {

std::optional<KernelFamily> ToFamily(v1::KernelFamily family) {
  switch (family) {
    case v1::KERNEL_FAMILY_MATERN_1_2:
      return KernelFamily::kMatern12;
    case v1::KERNEL_FAMILY_MATERN_3_2:
      return KernelFamily::kMatern32;
    case v1::KERNEL_FAMILY_MATERN_5_2:
      return KernelFamily::kMatern52;
    case v1::KERNEL_FAMILY_BY_EVIDENCE:
      return std::nullopt;
    default:
      return KernelFamily::kRbf;
  }
}

// The options of methods that have fields of their own.
std::vector<const google::protobuf::FieldDescriptor*> OptionFields() {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  for (const int number : {v1::FitOptions::kInducingPointsFieldNumber, v1::FitOptions::kBatchSizeFieldNumber,
                           v1::FitOptions::kStepsFieldNumber}) {
    fields.push_back(v1::FitOptions::descriptor()->FindFieldByNumber(number));
  }
  return fields;
}

void ToMessage(const JobProgress& progress, v1::FitProgress* message) {
  message->set_phase(progress.phase);
  message->set_iteration(progress.iteration);
  message->set_evaluations(progress.evaluations);
  message->set_fraction(progress.fraction);
  if (progress.elbo.has_value()) message->set_elbo(*progress.elbo);
  fidelio::ToMessage(progress.elapsed, message->mutable_elapsed());
  if (progress.eta.has_value()) fidelio::ToMessage(*progress.eta, message->mutable_eta());
}

void ToMessage(const FitReport& report, v1::SamplingReport* sampling) {
  sampling->set_chains(report.chains);
  sampling->set_draws(report.draws);
  sampling->set_acceptance(report.acceptance);
  if (report.r_hat > 0) sampling->set_r_hat(report.r_hat);
  sampling->set_effective_size(report.effective_size);
  sampling->set_moved_chains(report.moved_chains);
  sampling->set_failed_curvature(report.failed_curvature);
}

}  // namespace

v1::KernelFamily ToMessage(const std::optional<KernelFamily>& family) {
  if (!family.has_value()) return v1::KERNEL_FAMILY_BY_EVIDENCE;
  switch (*family) {
    case KernelFamily::kRbf:
      return v1::KERNEL_FAMILY_RBF;
    case KernelFamily::kMatern12:
      return v1::KERNEL_FAMILY_MATERN_1_2;
    case KernelFamily::kMatern32:
      return v1::KERNEL_FAMILY_MATERN_3_2;
    case KernelFamily::kMatern52:
      return v1::KERNEL_FAMILY_MATERN_5_2;
  }
  return v1::KERNEL_FAMILY_UNSPECIFIED;  // stored by a program that has more
}

absl::StatusOr<FitSpec> ToFitSpec(const v1::FitOptions& message, absl::string_view field) {
  FitSpec spec;
  spec.inference = OrDefault(message.inference(), Inference::kAuto);
  FIDELIO_RETURN_IF_ERROR(CheckEnum(message.kernel_family(), absl::StrCat(field, ".kernel_family")));
  spec.kernel_family = ToFamily(message.kernel_family());
  spec.warm_start = message.warm_start();
  if (message.budget().has_seconds()) spec.budget_seconds = message.budget().seconds();
  if (message.budget().has_iterations()) spec.budget_iterations = message.budget().iterations();
  spec.seed = message.seed();
  for (const auto& [name, value] : message.method_options()) spec.method_options[name] = value;
  const google::protobuf::Reflection& fields = *message.GetReflection();
  for (const google::protobuf::FieldDescriptor* option : OptionFields()) {
    if (!fields.HasField(message, option)) continue;
    const auto value = static_cast<double>(fields.GetInt64(message, option));
    if (!spec.method_options.emplace(option->name(), value).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, ".", option->name(), ": given twice, also in method_options"));
    }
  }
  return spec;
}

void ToMessage(const FitSpec& options, v1::FitOptions* message) {
  message->set_inference(static_cast<v1::Inference>(options.inference));
  message->set_kernel_family(ToMessage(options.kernel_family));
  message->set_warm_start(options.warm_start);
  if (options.budget_seconds.has_value()) message->mutable_budget()->set_seconds(*options.budget_seconds);
  if (options.budget_iterations.has_value()) message->mutable_budget()->set_iterations(*options.budget_iterations);
  message->set_seed(options.seed);
  std::map<std::string, double> others = options.method_options;
  for (const google::protobuf::FieldDescriptor* option : OptionFields()) {
    const auto given = others.find(option->name());
    constexpr double kMostWhole = 0x1p53;
    if (given == others.end() || !(std::abs(given->second) <= kMostWhole) ||
        given->second != std::floor(given->second)) {
      continue;  // stored by another program: as it is
    }
    message->GetReflection()->SetInt64(message, option, static_cast<int64_t>(given->second));
    others.erase(given);
  }
  message->mutable_method_options()->insert(others.begin(), others.end());
}

void ToMessage(const FitInfo& fit, v1::Fit* message) {
  if (fit.id > 0) message->set_name(FitName(fit.model, fit.id));
  message->set_state(static_cast<v1::FitState>(fit.state));
  ToMessage(fit.options, message->mutable_options());
  ToMessage(fit.progress, message->mutable_progress());
  message->set_data_version(fit.data_version);
  if (fit.revision > 0) message->set_revision(RevisionName(fit.model, fit.revision));
  if (!fit.error.ok()) *message->mutable_error() = ToRpcStatus(fit.error);
  if (fit.inference.has_value()) message->set_inference(static_cast<v1::Inference>(*fit.inference));
  message->set_inference_reason(fit.inference_reason);
  ToMessage(fit.created, message->mutable_create_time());
  if (fit.started.has_value()) ToMessage(*fit.started, message->mutable_start_time());
  if (fit.finished.has_value()) ToMessage(*fit.finished, message->mutable_end_time());
  message->set_resume_count(static_cast<int32_t>(fit.resume_count));
  message->set_queue_position(static_cast<int32_t>(fit.queue_position));
  message->set_not_served(fit.not_served && fit.state == FitState::kSucceeded);
  if (fit.report.has_value() && fit.report->chains > 0) ToMessage(*fit.report, message->mutable_sampling());
  for (std::string& warning : WarningsOf(fit)) message->add_warnings(std::move(warning));
}

void ToMessage(const std::vector<FitPoint>& history, v1::Fit* message) {
  for (const FitPoint& point : history) {
    v1::FitPoint* entry = message->add_history();
    entry->set_phase(point.phase);
    entry->set_iteration(point.iteration);
    entry->set_elbo(point.elbo);
    ToMessage(point.elapsed, entry->mutable_elapsed());
  }
}

void ToMessage(const RevisionInfo& revision, v1::Revision* message) {
  message->set_name(RevisionName(revision.model, revision.id));
  message->set_origin(static_cast<v1::RevisionOrigin>(revision.origin));
  if (revision.fit > 0) message->set_fit(FitName(revision.model, revision.fit));
  message->set_data_version(revision.data_version);
  message->mutable_observation_counts()->Add(revision.observation_counts.begin(), revision.observation_counts.end());
  message->set_kind(static_cast<v1::ModelKind>(revision.kind));
  ToMessage(revision.options, message->mutable_options());
  message->set_inference(static_cast<v1::Inference>(revision.inference));
  message->set_elbo(revision.elbo);
  ToMessage(revision.fit_duration, message->mutable_fit_duration());
  ToMessage(revision.created, message->mutable_create_time());
  message->set_code_version(revision.code_version);
  message->set_size_bytes(revision.size_bytes);
  message->set_sha256(revision.sha256);
  message->set_current(revision.current);
  message->set_withdrawn_count(revision.withdrawn);
}

}  // namespace fidelio
