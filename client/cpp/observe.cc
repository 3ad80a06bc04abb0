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

constexpr int64_t kLargestPage = 100'000;  // the most that servers return

absl::StatusOr<Observations> FromBatch(const v1::ObservationBatch& wire) {
  const auto inputs = FromWire(wire.inputs(), "inputs");
  if (!inputs.ok()) return inputs.status();
  const auto outputs = FromWire(wire.outputs(), "outputs");
  if (!outputs.ok()) return outputs.status();
  const auto noise = FromWire(wire.noise_variances(), "noise_variances");
  if (!noise.ok()) return noise.status();
  const bool noise_fits =
      noise->size() == 0 || (noise->cols() == 1 && (noise->rows() == 1 || noise->rows() == inputs->rows()));
  const bool ids_fit = wire.run_ids_size() == 0 || wire.run_ids_size() == inputs->rows();
  if (outputs->rows() != inputs->rows() || outputs->cols() != 1 || !noise_fits || !ids_fit) {
    return absl::InternalError(absl::StrCat("the server returned ", inputs->rows(), " inputs with ", outputs->size(),
                                            " outputs, ", noise->size(), " variances and ", wire.run_ids_size(),
                                            " run ids"));
  }
  Observations batch{.level = static_cast<int>(wire.level()),
                     .inputs = *inputs,
                     .outputs = *outputs,
                     .run_ids = {wire.run_ids().begin(), wire.run_ids().end()},
                     .data_version = wire.data_version(),
                     .create_time = wire.create_time()};
  if (noise->size() > 0) batch.noise_variances = *noise;
  if (wire.has_withdrawal()) batch.withdrawal = wire.withdrawal();
  return batch;
}

int64_t CountRows(const std::vector<Observations>& observations) {
  int64_t rows = 0;
  for (const Observations& batch : observations) rows += batch.outputs.size();
  return rows;
}

// Adds the warnings of a chunk, before which `first_row` rows were sent, to those of all.
void AddWarnings(const std::vector<ObservationWarning>& chunk, int64_t first_row,
                 std::vector<ObservationWarning>* all) {
  for (const ObservationWarning& warning : chunk) {
    auto sum = std::find_if(all->begin(), all->end(), [&](const auto& known) { return known.kind == warning.kind; });
    if (sum == all->end()) sum = all->insert(sum, ObservationWarning{.kind = warning.kind});
    sum->count += warning.count;
    for (const int64_t row : warning.rows) {
      if (sum->rows.size() < kMostWarningRows) sum->rows.push_back(first_row + row);
    }
    // The server counts the rows of one chunk.
    if (first_row == 0) {
      sum->message = warning.message;
    } else {
      sum->message = warning.kind == v1::OBSERVATION_WARNING_KIND_DUPLICATE
                         ? absl::StrCat(sum->count, " rows are exact copies of observations in use or of earlier rows")
                     : warning.kind == v1::OBSERVATION_WARNING_KIND_FAR_OUTSIDE_BOX
                         ? absl::StrCat(sum->count, " rows are farther than three box widths from the model's box")
                         : absl::StrCat(sum->message, sum->message.empty() ? "" : "; ", warning.message);
    }
  }
}

}  // namespace

absl::StatusOr<AddedObservations> Client::AddObservations(absl::string_view model,
                                                          const std::vector<Observations>& observations,
                                                          const AddOptions& options, const CallOptions& call) {
  v1::AddObservationsRequest request;
  request.set_model(ModelName(model));
  if (options.update == ObservationUpdate::kCondition) request.set_update(v1::OBSERVATION_UPDATE_CONDITION);
  if (options.duplicates != v1::DUPLICATE_POLICY_KEEP) request.set_duplicates(options.duplicates);
  for (const Observations& batch : observations) {
    v1::ObservationBatch* wire = request.add_observations();
    if (batch.level.has_value()) wire->set_level(static_cast<uint32_t>(*batch.level));
    *wire->mutable_inputs() = ToWire(batch.inputs);
    *wire->mutable_outputs() = ToWire(batch.outputs);
    if (batch.noise_variances.size() > 0) *wire->mutable_noise_variances() = ToWire(batch.noise_variances);
    wire->mutable_run_ids()->Assign(batch.run_ids.begin(), batch.run_ids.end());
  }
  request.set_etag(call.etag);
  request.set_request_id(RequestId(call));
  const auto response = caller_.Call(&Caller::Stub::AddObservations, request, caller_.Deadline(call));
  if (!response.ok()) return response.status();
  AddedObservations added{.data_version = response->data_version(),
                          .counts = {response->observation_counts().begin(), response->observation_counts().end()},
                          .etag = response->etag(),
                          .revision = response->revision(),
                          .added = response->added_count(),
                          .skipped = response->skipped_count(),
                          .replayed = response->replayed_count()};
  // Older servers add all rows and do not count them.
  if (added.added + added.skipped + added.replayed == 0) added.added = CountRows(observations);
  for (const v1::ObservationWarning& warning : response->warnings()) {
    added.warnings.push_back({.kind = warning.kind(),
                              .count = warning.count(),
                              .rows = {warning.rows().begin(), warning.rows().end()},
                              .message = warning.message()});
  }
  return added;
}

absl::StatusOr<AddedObservations> Client::AddObservationChunks(
    absl::string_view model, const std::function<absl::StatusOr<std::vector<Observations>>()>& next,
    const std::function<void(const AddedObservations&)>& on_chunk, const AddOptions& options, const CallOptions& call) {
  if (options.update != ObservationUpdate::kNone) {
    return absl::InvalidArgumentError("update: must be kNone when observations are added in chunks");
  }
  const std::string id = RequestId(call);
  CallOptions chunk_call = call;
  AddedObservations sum;
  int64_t rows = 0;
  for (int64_t chunk = 0;; ++chunk) {
    const auto observations = next();
    if (!observations.ok()) return observations.status();
    if (observations->empty()) return sum;
    chunk_call.request_id = absl::StrCat(id, ".", chunk);
    const auto added = AddObservations(model, *observations, options, chunk_call);
    if (!added.ok()) return added.status();
    sum.data_version = added->data_version;
    sum.counts = added->counts;
    sum.etag = added->etag;
    sum.added += added->added;
    sum.skipped += added->skipped;
    sum.replayed += added->replayed;
    AddWarnings(added->warnings, rows, &sum.warnings);
    rows += CountRows(*observations);
    if (!call.etag.empty()) chunk_call.etag = added->etag;
    if (on_chunk) on_chunk(*added);
  }
}

absl::StatusOr<std::vector<Observations>> Client::ListObservations(absl::string_view model,
                                                                   const ListObservationsOptions& options,
                                                                   const CallOptions& call) {
  v1::ListObservationsRequest request;
  request.set_parent(ModelName(model));
  if (options.level.has_value()) request.set_level(static_cast<uint32_t>(*options.level));
  request.set_show_withdrawn(options.show_withdrawn);
  int64_t most = options.most;
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
