// Client::WithdrawObservations, WithdrawBatch and CorrectObservations.
#include <string>

#include "client/cpp/client.h"
#include "client/cpp/matrix.h"
#include "client/cpp/names.h"
#include "client/cpp/request_id.h"

namespace fidelio::client {
namespace {

// What both requests, and both responses, have.
template <typename Request>
Request ChangeRequest(absl::string_view model, absl::string_view reason, const CallOptions& call) {
  Request request;
  request.set_model(ModelName(model));
  request.set_reason(std::string(reason));
  request.set_etag(call.etag);
  request.set_request_id(RequestId(call));
  return request;
}

template <typename Response>
ChangedObservations FromChange(const Response& response, int64_t changed) {
  return {.data_version = response.data_version(),
          .counts = {response.observation_counts().begin(), response.observation_counts().end()},
          .etag = response.etag(),
          .changed = changed,
          .current_revision_withdrawn = response.current_revision_withdrawn_count()};
}

}  // namespace

absl::StatusOr<ChangedObservations> Client::WithdrawObservations(absl::string_view model,
                                                                 const std::vector<std::string>& run_ids,
                                                                 absl::string_view reason, const CallOptions& call) {
  auto request = ChangeRequest<v1::WithdrawObservationsRequest>(model, reason, call);
  request.mutable_run_ids()->Assign(run_ids.begin(), run_ids.end());
  const auto response = caller_.Call(&Caller::Stub::WithdrawObservations, request, caller_.Deadline(call));
  if (!response.ok()) return response.status();
  return FromChange(*response, response->withdrawn_count());
}

absl::StatusOr<ChangedObservations> Client::WithdrawBatch(absl::string_view model, int64_t data_version,
                                                          absl::string_view reason, const CallOptions& call) {
  auto request = ChangeRequest<v1::WithdrawObservationsRequest>(model, reason, call);
  request.set_batch_data_version(data_version);
  const auto response = caller_.Call(&Caller::Stub::WithdrawObservations, request, caller_.Deadline(call));
  if (!response.ok()) return response.status();
  return FromChange(*response, response->withdrawn_count());
}

absl::StatusOr<ChangedObservations> Client::CorrectObservations(absl::string_view model, const Correction& correction,
                                                                absl::string_view reason, const CallOptions& call) {
  auto request = ChangeRequest<v1::CorrectObservationsRequest>(model, reason, call);
  request.mutable_run_ids()->Assign(correction.run_ids.begin(), correction.run_ids.end());
  *request.mutable_outputs() = ToWire(correction.outputs);
  if (correction.noise_variances.size() > 0) *request.mutable_noise_variances() = ToWire(correction.noise_variances);
  const auto response = caller_.Call(&Caller::Stub::CorrectObservations, request, caller_.Deadline(call));
  if (!response.ok()) return response.status();
  return FromChange(*response, response->corrected_count());
}

}  // namespace fidelio::client
