#include <array>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/status_macros.h"
#include "server/rpc/convert.h"
#include "server/rpc/enums.h"
#include "server/rpc/matrix.h"

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
  }
  return batches;
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
