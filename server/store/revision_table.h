// The tables `revisions` and `checkpoints`: immutable fitted states (FORMAT.md, S9 and S10). Of a deleted one, a row
// remains in `revisions` that says so: otherwise it could not be told from a row that was lost.
#ifndef FIDELIO_SERVER_STORE_REVISION_TABLE_H_
#define FIDELIO_SERVER_STORE_REVISION_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/store/database.h"
#include "server/store/model_table.h"
#include "server/store/records.h"

namespace fidelio {

absl::Status InsertRevision(Database& database, int64_t model, const RevisionRecord& record,
                            absl::string_view checkpoint);
// Deletes its checkpoint, and leaves the row of a deleted revision.
absl::Status EraseRevision(Database& database, int64_t model, const RevisionRecord& record);
inline bool IsDeleted(const RevisionRecord& record) { return record.checkpoint_bytes < 0; }
// Those with the ids after + 1 … after + limit, deleted ones included.
absl::StatusOr<std::vector<RevisionRecord>> ReadRevisions(Database& database, const ModelEntry& model, int64_t after,
                                                          int limit);
// The revisions that have a row in `checkpoints`. Reads keys alone.
absl::StatusOr<std::vector<int64_t>> ReadCheckpointIds(Database& database, int64_t model);
absl::StatusOr<std::string> LoadCheckpoint(Database& database, int64_t model, const RevisionRecord& record);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_REVISION_TABLE_H_
