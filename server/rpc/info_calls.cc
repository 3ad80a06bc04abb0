#include <algorithm>
#include <cstdint>
#include <limits>

#include "server/rpc/convert.h"
#include "server/rpc/emulator_service.h"

namespace fidelio {
namespace {

int32_t Saturated(int64_t value) {
  return static_cast<int32_t>(std::min<int64_t>(value, std::numeric_limits<int32_t>::max()));
}

void ToMessage(const ServiceLimits& limits, v1::Limits* message) {
  message->set_max_message_bytes(limits.max_message_bytes);
  message->set_max_matrix_elements(limits.max_matrix_elements);
  message->set_max_input_dimension(Saturated(limits.max_input_dimension));
  message->set_max_fidelities(Saturated(limits.max_fidelities));
  message->set_max_observations(limits.max_observations);
  message->set_max_covariance_points(Saturated(limits.max_covariance_points));
  message->set_max_paths(Saturated(limits.max_paths));
  message->set_max_queued_fits(Saturated(limits.fit_queue));
  message->set_fit_workers(Saturated(limits.fit_workers));
  message->set_max_design_points(Saturated(limits.max_design_points));
  message->set_max_design_size(Saturated(limits.max_design_size));
}

void ToMessage(const SupportedMethod& supported, v1::MethodInfo* message) {
  const auto& [method, use] = supported;
  message->set_kind(static_cast<v1::ModelKind>(use->kind));
  message->set_kind_name(use->kind_name);
  message->set_inference(static_cast<v1::Inference>(use->inference));
  message->set_inference_name(use->inference_name);
  message->set_maturity(static_cast<v1::Maturity>(method->maturity));
  if (use->auto_rule) message->set_chosen_by_auto(use->auto_rule->when);
  for (const MethodOption& option : method->options) {
    v1::MethodOption* entry = message->add_options();
    entry->set_name(option.name);
    entry->set_help(option.help);
    entry->set_least(option.least);
    entry->set_most(option.most);
    entry->set_whole(option.whole);
    entry->set_default_text(option.standard);
  }
}

}  // namespace

grpc::Status EmulatorService::GetServerInfo(Context* context, const v1::GetServerInfoRequest* request,
                                            v1::ServerInfo* response) {
  return Unary(methods::kGetServerInfo, context, *request, *response, [&](Call& call) -> absl::Status {
    response->set_version(parts_.identity.version);
    response->set_build(parts_.identity.build);
    response->set_isa_level(parts_.identity.isa_level);
    fidelio::ToMessage(parts_.identity.start_time, response->mutable_start_time());
    const Capabilities& supports = ModelService::Supports();
    for (const ModelKind kind : supports.model_kinds) response->add_model_kinds(static_cast<v1::ModelKind>(kind));
    for (const Inference inference : supports.inferences) {
      response->add_inferences(static_cast<v1::Inference>(inference));
    }
    for (const auto& family : supports.kernel_families) response->add_kernel_families(fidelio::ToMessage(family));
    for (const ObservationUpdate update : supports.observation_updates) {
      response->add_observation_updates(static_cast<v1::ObservationUpdate>(update));
    }
    for (const SupportedMethod& method : supports.methods) ToMessage(method, response->add_methods());
    ToMessage(parts_.limits, response->mutable_limits());
    if (call.authenticated()) response->set_caller(call.principal().name);
    response->set_caller_role(fidelio::ToMessage(call.principal().role));
    return absl::OkStatus();
  });
}

}  // namespace fidelio
