// Which revisions of a model are kept when a new one is made.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_SERVER_MODEL_RETENTION_H_
#define FIDELIO_SERVER_MODEL_RETENTION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/store/store.h"

namespace fidelio {

// How many revisions a model keeps: its own number, or the server's when that is 0. 0: all.
int64_t RevisionsToKeep(int64_t of_model, int64_t of_server);

// Deletes the oldest revisions until `keep` are left (0: deletes none), but neither the current one nor those from
// `first_new` on, which were just made. Returns the ids of what it deleted: the cache must forget them, too.
absl::StatusOr<std::vector<int64_t>> DeleteOldRevisions(StoreTransaction& transaction, absl::string_view model,
                                                        int64_t keep, int64_t first_new);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_RETENTION_H_
