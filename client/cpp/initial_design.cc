// Client::InitialDesign.
#include <utility>

#include "client/cpp/client.h"
#include "client/cpp/matrix.h"
#include "client/cpp/names.h"

namespace fidelio::client {

absl::StatusOr<InitialDesignRuns> Client::InitialDesign(absl::string_view model, const InitialDesignOptions& options,
                                                        const CallOptions& call) {
  v1::InitialDesignRequest request;
  request.set_model(ModelName(model));
  for (const FidelityCount& count : options.counts) {
    v1::FidelityCount* wire = request.add_counts();
    wire->set_level(static_cast<uint32_t>(count.level));
    wire->set_count(static_cast<uint32_t>(count.count));
  }
  request.set_method(options.method);
  request.set_nested(options.nested);
  for (const FidelityInputs& pending : options.pending) {
    v1::FidelityInputs* wire = request.add_pending();
    wire->set_level(static_cast<uint32_t>(pending.level));
    *wire->mutable_inputs() = ToWire(pending.inputs);
  }
  request.set_seed(options.seed);
  const auto response = caller_.Call(&Caller::Stub::InitialDesign, request, caller_.Deadline(call));
  if (!response.ok()) return response.status();

  InitialDesignRuns runs{.total_cost = response->total_cost(), .data_version = response->data_version()};
  for (const v1::FidelityInputs& wire : response->designs()) {
    auto inputs = FromWire(wire.inputs(), "inputs");
    if (!inputs.ok()) return inputs.status();
    runs.designs.push_back(
        {.level = static_cast<int>(wire.level()), .inputs = *std::move(inputs), .fidelity = wire.fidelity()});
  }
  return runs;
}

}  // namespace fidelio::client
