// ObservationIndex: which observations of a model are in use, so that copies and known run_ids are found without reading
// them all: a 64-bit hash per row, and the ids that clients gave.
//
// Built from the store when it is first needed, brought up to date by every look, and kept for the models that were used
// last. Hits are confirmed against the rows themselves. Thread-safe; no lock is held while the store is read.
#ifndef FIDELIO_SERVER_MODEL_OBSERVATION_INDEX_H_
#define FIDELIO_SERVER_MODEL_OBSERVATION_INDEX_H_

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/model/model_index.h"
#include "server/store/store.h"

namespace fidelio {

// What is known of the rows of a call, numbered over all of its blocks.
struct KnownRows {
  std::vector<bool> duplicate = {};  // level, inputs and output of a row in use, or of an earlier row of the call
  std::vector<bool> replayed = {};   // in use under the same run_id, with the same level, inputs and output
};

class ObservationIndex {
 public:
  // Looks at the rows of `blocks`, given the observations of `model` that `reader` has. ABORTED when a run_id is in use
  // with other values; INVALID_ARGUMENT when one stands twice in the call.
  absl::StatusOr<KnownRows> Look(const StoreReader& reader, const IndexedModel& model,
                                 const std::vector<ObservationBlock>& blocks);

  // Reads what Look would have to read, so that it need not do so within a transaction.
  absl::Status CatchUp(const StoreReader& reader, const IndexedModel& model) {
    const std::shared_ptr<Entry> entry = Use(model.uid);
    {
      absl::MutexLock lock(&entry->mutex);
      if (entry->version >= model.record.data_version) return absl::OkStatus();
    }
    return ReadRows(reader, model, *entry);
  }

  void Forget(int64_t uid);  // a model that is gone

 private:
  struct Entry {
    absl::Mutex mutex;
    int64_t version ABSL_GUARDED_BY(mutex) = 0;  // data_version up to which rows are known
    absl::flat_hash_set<uint64_t> rows ABSL_GUARDED_BY(mutex);
    absl::flat_hash_map<std::string, uint64_t> run_ids ABSL_GUARDED_BY(mutex);  // with the hash of the row
  };

  static absl::Status ReadRows(const StoreReader& reader, const IndexedModel& model, Entry& entry);

  std::shared_ptr<Entry> Use(int64_t uid);
  void Trim(int64_t uid, size_t rows);  // forgets what was not used lately

  absl::Mutex mutex_;
  struct Kept {
    int64_t uid = 0;
    size_t rows = 0;
    std::shared_ptr<Entry> entry = {};
  };
  std::list<Kept> kept_ ABSL_GUARDED_BY(mutex_);  // the last used first
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_OBSERVATION_INDEX_H_
