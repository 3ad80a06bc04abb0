// The tables `revisions` and `checkpoints`: immutable fitted states (FORMAT.md, S9 and S10).
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
absl::StatusOr<std::vector<RevisionRecord>> ReadRevisions(Database& database, const ModelEntry& model, int64_t after,
                                                          int limit);
absl::StatusOr<std::string> LoadCheckpoint(Database& database, int64_t model, const RevisionRecord& record);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_REVISION_TABLE_H_
