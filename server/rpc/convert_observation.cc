#include <array>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/status_macros.h"
#include "server/rpc/convert.h"
#include "server/rpc/enums.h"
#include "server/rpc/matrix.h"
#include "server/rpc/names.h"

namespace fidelio {

absl::StatusOr<std::vector<ObservationBatch>> ToObservations(const v1::AddObservationsRequest& request,
                                                             int64_t max_elements) {
  std::vector<ObservationBatch> batches(static_cast<size_t>(request.observations_size()));
  for (int i = 0; i < request.observations_size(); ++i) {
    const v1::ObservationBatch& message = request.observations(i);
    const std::string field = absl::StrCat("observations[", i, "]");
    ObservationBatch& batch = batches[static_cast<size_t>(i)];
    if (message.has_level()) {
      FIDELIO_ASSIGN_OR_RETURN(batch.level, ToLevel(message.level(), absl::StrCat(field, ".level")));
    }
    FIDELIO_ASSIGN_OR_RETURN(batch.inputs,
                             DecodeMatrix(message.inputs(), absl::StrCat(field, ".inputs"), max_elements));
    FIDELIO_ASSIGN_OR_RETURN(batch.outputs,
                             DecodeColumn(message.outputs(), absl::StrCat(field, ".outputs"), max_elements));
    if (message.has_noise_variances()) {
      FIDELIO_ASSIGN_OR_RETURN(
          batch.noise_variances,
          DecodeColumn(message.noise_variances(), absl::StrCat(field, ".noise_variances"), max_elements));
    }
    batch.run_ids.assign(message.run_ids().begin(), message.run_ids().end());
  }
  return batches;
}

absl::StatusOr<Correction> ToCorrection(const v1::CorrectObservationsRequest& request, int64_t max_elements) {
  Correction correction;
  correction.run_ids.assign(request.run_ids().begin(), request.run_ids().end());
  FIDELIO_ASSIGN_OR_RETURN(correction.outputs, DecodeColumn(request.outputs(), "outputs", max_elements));
  if (request.has_noise_variances()) {
    FIDELIO_ASSIGN_OR_RETURN(correction.noise_variances,
                             DecodeColumn(request.noise_variances(), "noise_variances", max_elements));
  }
  correction.reason = request.reason();
  return correction;
}

void ToMessage(const AddObservationsAnswer& answer, absl::string_view model, v1::AddObservationsResponse* message) {
  message->set_data_version(answer.data_version);
  message->mutable_observation_counts()->Add(answer.observation_counts.begin(), answer.observation_counts.end());
  message->set_etag(answer.etag);
  if (answer.revision > 0) message->set_revision(RevisionName(model, answer.revision));
  for (const ObservationWarning& warning : answer.warnings) {
    v1::ObservationWarning* out = message->add_warnings();
    out->set_kind(static_cast<v1::ObservationWarningKind>(warning.kind));
    out->set_count(warning.count);
    out->mutable_rows()->Add(warning.rows.begin(), warning.rows.end());
    out->set_message(warning.message);
  }
  message->set_added_count(answer.added);
  message->set_skipped_count(answer.skipped);
  message->set_replayed_count(answer.replayed);
}

absl::StatusOr<ObservationUpdate> ToObservationUpdate(v1::ObservationUpdate update, absl::string_view field) {
  return ToEnum(update, ObservationUpdate::kNone, field);
}

void ToMessage(const ObservationBatch& batch, v1::MatrixEncoding encoding, v1::ObservationBatch* message) {
  if (batch.level.has_value()) message->set_level(static_cast<uint32_t>(*batch.level));
  EncodeMatrix(batch.inputs, encoding, message->mutable_inputs());
  EncodeMatrix(batch.outputs, encoding, message->mutable_outputs());
  if (batch.noise_variances.size() > 0) {
    EncodeMatrix(batch.noise_variances, encoding, message->mutable_noise_variances());
  }
  message->set_data_version(batch.data_version);
  message->mutable_run_ids()->Add(batch.run_ids.begin(), batch.run_ids.end());
  ToMessage(batch.created, message->mutable_create_time());
  if (!batch.withdrawal) return;
  v1::Withdrawal* withdrawal = message->mutable_withdrawal();
  withdrawal->set_data_version(batch.withdrawal->data_version);
  withdrawal->set_reason(batch.withdrawal->reason);
  withdrawal->set_corrected(batch.withdrawal->corrected);
  ToMessage(batch.withdrawal->time, withdrawal->mutable_time());
}

std::string FormatCursor(const ObservationPosition& position, int64_t data_version) {
  return absl::StrCat(position.data_version, " ", position.part, " ", position.row, " ", data_version);
}

std::optional<std::pair<ObservationPosition, int64_t>> ParseCursor(absl::string_view cursor) {
  const std::vector<absl::string_view> words = absl::StrSplit(cursor, ' ');
  std::array<int64_t, 4> numbers;
  if (words.size() != numbers.size()) return std::nullopt;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!absl::SimpleAtoi(words[i], &numbers[i]) || numbers[i] < 0) return std::nullopt;
  }
  if (numbers[0] < 1 || numbers[3] < 1) return std::nullopt;
  return std::pair(ObservationPosition{.data_version = numbers[0], .part = numbers[1], .row = numbers[2]}, numbers[3]);
}

}  // namespace fidelio
