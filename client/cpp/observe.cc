// Client::AddObservations, AddObservationChunks and ListObservations.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/client.h"
#include "client/cpp/matrix.h"
#include "client/cpp/names.h"
#include "client/cpp/request_id.h"

namespace fidelio::client {
namespace {

constexpr int64_t kLargestPage = 100'000;  // the most that servers answer

absl::StatusOr<Observations> FromBatch(const v1::ObservationBatch& wire) {
  const auto inputs = FromWire(wire.inputs(), "inputs");
  if (!inputs.ok()) return inputs.status();
  const auto outputs = FromWire(wire.outputs(), "outputs");
  if (!outputs.ok()) return outputs.status();
  const auto noise = FromWire(wire.noise_variances(), "noise_variances");
  if (!noise.ok()) return noise.status();
  const bool noise_fits =
      noise->size() == 0 || (noise->cols() == 1 && (noise->rows() == 1 || noise->rows() == inputs->rows()));
  if (outputs->rows() != inputs->rows() || outputs->cols() != 1 || !noise_fits) {
    return absl::InternalError(absl::StrCat("the server answered ", inputs->rows(), " inputs with ", outputs->size(),
                                            " outputs and ", noise->size(), " variances"));
  }
  Observations batch{.level = static_cast<int>(wire.level()), .inputs = *inputs, .outputs = *outputs};
  if (noise->size() > 0) batch.noise_variances = *noise;
  return batch;
}

}  // namespace

absl::StatusOr<AddedObservations> Client::AddObservations(absl::string_view model,
                                                          const std::vector<Observations>& observations,
                                                          ObservationUpdate update, const CallOptions& call) {
  v1::AddObservationsRequest request;
  request.set_model(ModelName(model));
  if (update == ObservationUpdate::kCondition) request.set_update(v1::OBSERVATION_UPDATE_CONDITION);
  for (const Observations& batch : observations) {
    v1::ObservationBatch* wire = request.add_observations();
    if (batch.level.has_value()) wire->set_level(static_cast<uint32_t>(*batch.level));
    *wire->mutable_inputs() = ToWire(batch.inputs);
    *wire->mutable_outputs() = ToWire(batch.outputs);
    if (batch.noise_variances.size() > 0) *wire->mutable_noise_variances() = ToWire(batch.noise_variances);
  }
  request.set_etag(call.etag);
  request.set_request_id(RequestId(call));
  const auto response = caller_.Call(&Caller::Stub::AddObservations, request, caller_.Deadline(call));
  if (!response.ok()) return response.status();
  return AddedObservations{.data_version = response->data_version(),
                           .counts = {response->observation_counts().begin(), response->observation_counts().end()},
                           .etag = response->etag(),
                           .revision = response->revision()};
}

absl::StatusOr<AddedObservations> Client::AddObservationChunks(
    absl::string_view model, const std::function<absl::StatusOr<std::vector<Observations>>()>& next,
    const std::function<void(const AddedObservations&)>& on_chunk, const CallOptions& call) {
  const std::string id = RequestId(call);
  CallOptions chunk_call = call;
  AddedObservations last;
  for (int64_t chunk = 0;; ++chunk) {
    const auto observations = next();
    if (!observations.ok()) return observations.status();
    if (observations->empty()) return last;
    chunk_call.request_id = absl::StrCat(id, ".", chunk);
    auto added = AddObservations(model, *observations, ObservationUpdate::kNone, chunk_call);
    if (!added.ok()) return added.status();
    last = *std::move(added);
    if (!call.etag.empty()) chunk_call.etag = last.etag;
    if (on_chunk) on_chunk(last);
  }
}

absl::StatusOr<std::vector<Observations>> Client::ListObservations(absl::string_view model, std::optional<int> level,
                                                                   int64_t most, const CallOptions& call) {
  v1::ListObservationsRequest request;
  request.set_parent(ModelName(model));
  if (level.has_value()) request.set_level(static_cast<uint32_t>(*level));
  const absl::Time deadline = caller_.Deadline(call);
  std::vector<Observations> all;
  while (most > 0) {
    request.set_page_size(static_cast<int32_t>(std::min(most, kLargestPage)));
    const auto page = caller_.Call(&Caller::Stub::ListObservations, request, deadline);
    if (!page.ok()) return page.status();
    for (const v1::ObservationBatch& wire : page->observations()) {
      auto batch = FromBatch(wire);
      if (!batch.ok()) return batch.status();
      most -= batch->outputs.size();
      all.push_back(*std::move(batch));
    }
    request.set_page_token(page->next_page_token());
    if (request.page_token().empty()) break;
  }
  return all;
}

}  // namespace fidelio::client
