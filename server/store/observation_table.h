// The table `observations`: one row per part of a version, immutable (FORMAT.md, S6).
#ifndef FIDELIO_SERVER_STORE_OBSERVATION_TABLE_H_
#define FIDELIO_SERVER_STORE_OBSERVATION_TABLE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/store/database.h"
#include "server/store/records.h"

namespace fidelio {

// INVALID_ARGUMENT unless shapes and limits hold for every block.
absl::Status ValidateBatch(absl::Span<const ObservationBlock> batch);

// INVALID_ARGUMENT unless there are ranges, of versions and levels that the model has, with no more points than are in use.
absl::Status ValidateWithdrawn(const WithdrawnRows& withdrawn, const ModelRecord& model);

// The parts of a version: what is withdrawn (unless null), then the blocks that are added.
absl::Status InsertVersion(Database& database, int64_t model, int64_t data_version, const WithdrawnRows* withdrawn,
                           absl::Span<const ObservationBlock> batch, absl::Time now);

// Copies the observations of a model from a database of format version 1, attached as `old`. A row that can't be read
// ends the copy: what is missing is noticed when it is read (S6).
absl::Status CopyObservationsOfVersion1(Database& database, int64_t model);

// `newest` is the model's data_version: DATA_LOSS when one of the rows up to it is missing.
absl::StatusOr<ObservationPage> ReadBlocks(Database& database, int64_t model, int64_t newest,
                                           const ObservationQuery& query);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_OBSERVATION_TABLE_H_
