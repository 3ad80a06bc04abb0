// RevisionCache: loaded revisions, the least recently used of which go when there are too many bytes of them.
//
// Thread-safe. A revision that many ask for at once is loaded once: the first caller loads it, on its own thread and
// without a lock of the cache, and the others wait for that. Errors are not cached. Whoever holds a revision keeps it
// alive, also when the cache has dropped it.
//
// Invariants: the bytes of all entries are at most `capacity`, unless there is only one entry: the last that was used.
#ifndef FIDELIO_SERVER_MODEL_REVISION_CACHE_H_
#define FIDELIO_SERVER_MODEL_REVISION_CACHE_H_

#include <cstdint>
#include <list>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/model/loaded_revision.h"
#include "server/telemetry/metrics.h"

namespace fidelio {

class RevisionCache {
 public:
  using Revision = std::shared_ptr<const LoadedRevision>;
  using Key = std::pair<int64_t, int64_t>;  // IndexedModel::uid, revision

  // `metrics` may be null.
  RevisionCache(int64_t capacity_bytes, Metrics* metrics) : capacity_(capacity_bytes), metrics_(metrics) {}

  // From the cache, or by load(). DEADLINE_EXCEEDED when another caller's load is not done at `deadline`.
  absl::StatusOr<Revision> Get(const Key& key, absl::Time deadline, absl::FunctionRef<absl::StatusOr<Revision>()> load);

  // Null when it is not in the cache. Does not count as a use.
  Revision Peek(const Key& key) const;

  void Insert(const Key& key, Revision revision);

  // Drops a revision, also one that is being loaded.
  void Erase(const Key& key);

  // Drops all revisions of a model, also those that are being loaded.
  void EraseModel(int64_t uid);

  int64_t bytes() const;
  int64_t size() const;

 private:
  // A load that is under way.
  struct Flight {
    absl::Mutex mutex;
    bool done ABSL_GUARDED_BY(mutex) = false;
    absl::StatusOr<Revision> result ABSL_GUARDED_BY(mutex) = absl::UnknownError("not loaded");
  };
  struct Entry {
    Key key;
    Revision revision;
  };

  void InsertLocked(const Key& key, Revision revision) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Remove(std::list<Entry>::iterator at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Report() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int64_t capacity_;
  Metrics* const metrics_;

  mutable absl::Mutex mutex_;
  std::list<Entry> entries_ ABSL_GUARDED_BY(mutex_);  // the last used first
  absl::flat_hash_map<Key, std::list<Entry>::iterator> places_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Key, std::shared_ptr<Flight>> flights_ ABSL_GUARDED_BY(mutex_);
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_REVISION_CACHE_H_
