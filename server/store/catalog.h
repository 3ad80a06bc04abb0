// Catalog: all models' rows in memory, as last committed, and which of them are quarantined. It is what decides whether a
// model, fit, batch or revision exists; the disk only has to agree.
//
// Thread-safe. Entries are immutable; a change replaces the entry.
#ifndef FIDELIO_SERVER_STORE_CATALOG_H_
#define FIDELIO_SERVER_STORE_CATALOG_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "server/store/database.h"
#include "server/store/model_table.h"
#include "server/store/request_index.h"

namespace fidelio {

using EntryPtr = std::shared_ptr<const ModelEntry>;

// What a transaction changes: null means that the model is gone.
using CatalogChanges = std::map<std::string, EntryPtr, std::less<>>;

class Catalog {
 public:
  // Reads it, and the index of requests, from the database. DATA_LOSS when models are missing that can't be named.
  absl::Status Load(Database& database, RequestIndex& requests);

  EntryPtr Find(absl::string_view model) const;  // null: there is none
  // Those whose name begins with `prefix` and is greater than `after`, by name.
  std::vector<EntryPtr> List(absl::string_view prefix, absl::string_view after, size_t limit) const;
  StoreRow store() const;

  void Apply(const CatalogChanges& changes, const StoreRow& store);

  // No effect on a model that does not exist, or is quarantined already.
  void Quarantine(absl::string_view model, absl::string_view why);
  // Records of requests about models that are gone were lost.
  void QuarantineOrphanRequests(absl::string_view why);
  std::string orphan_requests_damage() const;  // empty: none

 private:
  mutable absl::Mutex mutex_;
  StoreRow store_ ABSL_GUARDED_BY(mutex_);
  std::string orphan_requests_damage_ ABSL_GUARDED_BY(mutex_);
  absl::btree_map<std::string, EntryPtr> models_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_CATALOG_H_
