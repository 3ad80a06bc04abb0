// The table `observations`: one row per batch and level, immutable (FORMAT.md, S6).
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

absl::Status InsertBatch(Database& database, int64_t model, int64_t data_version,
                         absl::Span<const ObservationBlock> batch, absl::Time now);

// `newest` is the model's data_version: DATA_LOSS when one of the rows up to it is missing.
absl::StatusOr<ObservationPage> ReadBlocks(Database& database, int64_t model, int64_t newest,
                                           const ObservationQuery& query);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_OBSERVATION_TABLE_H_
