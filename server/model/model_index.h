// ModelIndex: what is known of every model without asking the store: its description, counters, current revision and
// owner, and whether it is quarantined. Predictions look here and need no disk.
//
// Thread-safe; every call is short and none waits for the disk. Entries are immutable; a change replaces the entry.
// It is changed only by whoever holds the service's lock of writers, right after the store has committed, so that it
// never runs ahead of the store, nor back; only Quarantine may be called by whoever finds damage.
#ifndef FIDELIO_SERVER_MODEL_MODEL_INDEX_H_
#define FIDELIO_SERVER_MODEL_MODEL_INDEX_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "server/model/codec.h"
#include "server/model/model_types.h"
#include "server/store/records.h"

namespace fidelio {

struct IndexedModel {
  int64_t uid = 0;  // unique in the process: a model that is made again under its old name has another one
  ModelRecord record = {};
  StoredSpec stored = {};
  std::string damage = {};  // not empty: quarantined, and the rest may be missing

  int fidelities() const { return static_cast<int>(stored.spec.fidelities.size()); }
  std::vector<int64_t> counts() const;  // of observations, one per fidelity
  int64_t observations() const;         // of all levels
};

using IndexedModelPtr = std::shared_ptr<const IndexedModel>;

// Changes with every change of the record, and is another one for a model of the same name that was made again.
std::string EtagOf(const ModelRecord& record);

ModelInfo InfoOf(const IndexedModel& model);  // without current_revision_withdrawn_count

class ModelIndex {
 public:
  IndexedModelPtr Find(absl::string_view model) const;  // null: there is none

  // Those whose name begins with `prefix` and is greater than `after`, by name, at most `limit`.
  std::vector<IndexedModelPtr> List(absl::string_view prefix, absl::string_view after, size_t limit) const;

  int64_t size() const;

  struct Usage {
    int64_t models = 0;
    int64_t observations = 0;   // of these models
    int64_t contributions = 0;  // observations that the token added to models of others
  };
  Usage UsageOf(const std::string& token) const;

  // Adds or replaces; the model keeps its uid. A quarantined record needs no spec; a spec that can't be read quarantines.
  void Put(const ModelRecord& record);
  void Erase(absl::string_view model);

  // No effect on a model that is not there.
  void Quarantine(absl::string_view model, absl::string_view why);

 private:
  void Replace(const std::string& name, IndexedModelPtr entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds the model's part, `times` times, to the usage of all who have one.
  void Count(const IndexedModel& model, int times) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  absl::btree_map<std::string, IndexedModelPtr> models_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, Usage> usage_ ABSL_GUARDED_BY(mutex_);  // by token
  int64_t next_uid_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_MODEL_INDEX_H_
