#include "server/model/retention.h"

#include "core/base/status_macros.h"

namespace fidelio {

int64_t RevisionsToKeep(int64_t of_model, int64_t of_server) { return of_model > 0 ? of_model : of_server; }

absl::StatusOr<std::vector<int64_t>> DeleteOldRevisions(StoreTransaction& transaction, absl::string_view model,
                                                        int64_t keep, int64_t first_new) {
  std::vector<int64_t> deleted;
  if (keep <= 0) return deleted;
  FIDELIO_ASSIGN_OR_RETURN(const ModelRecord record, transaction.GetModel(model));
  FIDELIO_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, transaction.RevisionIds(model));
  int64_t left = static_cast<int64_t>(ids.size());
  for (const int64_t id : ids) {
    if (left <= keep || id >= first_new) break;
    if (id == record.current_revision) continue;
    FIDELIO_RETURN_IF_ERROR(transaction.DeleteRevision(model, 0, id));
    deleted.push_back(id);
    --left;
  }
  return deleted;
}

}  // namespace fidelio
