// Store: the durable truth of the server: named models with their observations, fits, revisions and answered requests.
//
// Thread-safe: every method of Store may be called from any thread. A Transaction belongs to the thread inside Write.
//
// Promises of every store (one contract suite runs for each of them):
//  - Write returns OK only after everything its function did is committed and fsynced; otherwise nothing of it happened.
//    Transactions are serial. Reads outside of a transaction see the last committed state.
//  - What was written is read back bit for bit, or the answer is DATA_LOSS. A model whose rows fail a checksum or an
//    invariant, or have vanished, is quarantined: every call about it answers DATA_LOSS until it is deleted or the store
//    is reopened in a better state; other models are not affected. ListModels still names it.
//  - Names, etags and ids never go back: a model that is deleted and made again has a new etag history but shares no bytes.
//
// Codes: NOT_FOUND (model, fit, revision), ALREADY_EXISTS, ABORTED (etag), INVALID_ARGUMENT (sizes, shapes, limits),
// FAILED_PRECONDITION (a fit that may not change so, deletion of the current revision), RESOURCE_EXHAUSTED (disk full: works again when there is space),
// DATA_LOSS (above), UNAVAILABLE (an earlier sync failed: the store takes no calls any more; see the store's on_fatal).
#ifndef FIDELIO_SERVER_STORE_STORE_H_
#define FIDELIO_SERVER_STORE_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/store/records.h"

namespace fidelio {

// Reads. Each call is atomic by itself; within a Transaction, calls see its own writes.
class StoreReader {
 public:
  virtual ~StoreReader() = default;

  virtual absl::StatusOr<ModelRecord> GetModel(absl::string_view model) const = 0;

  // Models whose name begins with `prefix` and is greater than `after`, by name, at most `limit` (≥ 1).
  virtual absl::StatusOr<ModelPage> ListModels(absl::string_view prefix, absl::string_view after, int limit) const = 0;

  // Blocks in order. A `from` beyond the last batch wanted gives an empty page.
  virtual absl::StatusOr<ObservationPage> ReadObservations(absl::string_view model,
                                                           const ObservationQuery& query) const = 0;

  virtual absl::StatusOr<FitRecord> GetFit(absl::string_view model, int64_t fit) const = 0;

  // Fits with an id greater than `after`, by id, at most `limit` (≥ 1).
  virtual absl::StatusOr<FitPage> ListFits(absl::string_view model, int64_t after, int limit) const = 0;

  // The last saved state of an unfinished fit; NOT_FOUND when there is none (see FitRecord::has_saved_state).
  virtual absl::StatusOr<std::string> ReadFitState(absl::string_view model, int64_t fit) const = 0;

  // The fits of all models that are PENDING or RUNNING, in the order of their creation within a model. Needs no disk.
  // Quarantined models have none.
  virtual std::vector<UnfinishedFit> UnfinishedFits() const = 0;

  // NOT_FOUND for one that was deleted, too.
  virtual absl::StatusOr<RevisionRecord> GetRevision(absl::string_view model, int64_t revision) const = 0;

  // Of the ids after + 1 … after + limit (≥ 1), the revisions that were not deleted, by id: none, perhaps, though there
  // are more.
  virtual absl::StatusOr<RevisionPage> ListRevisions(absl::string_view model, int64_t after, int limit) const = 0;

  // The ids of all revisions that were not deleted, ascending. Takes time for these alone.
  virtual absl::StatusOr<std::vector<int64_t>> RevisionIds(absl::string_view model) const = 0;

  // The bytes given to AddRevision, checked against their SHA-256.
  virtual absl::StatusOr<std::string> ReadCheckpoint(absl::string_view model, int64_t revision) const = 0;

  // The record of a request, if there is one: whether or not `model` (which the new request is about; it need not exist)
  // is the one of the recorded request. DATA_LOSS when records were lost that might have been this one's.
  virtual absl::StatusOr<std::optional<RequestRecord>> FindRequest(absl::string_view model,
                                                                   const RequestKey& key) const = 0;
};

// Writes, all or nothing. After a call has failed, the transaction may go on unless the code is DATA_LOSS,
// RESOURCE_EXHAUSTED or UNAVAILABLE: then Write will fail whatever its function returns.
class StoreTransaction : public StoreReader {
 public:
  // `model` must be a valid name (the layers above check its form): not empty, at most 255 bytes, without NUL.
  virtual absl::StatusOr<ModelRecord> CreateModel(absl::string_view model, absl::string_view spec) = 0;

  // Replaces the spec. ABORTED unless `etag` is 0 (whatever it is now) or the model's.
  virtual absl::StatusOr<ModelRecord> UpdateModel(absl::string_view model, int64_t etag, absl::string_view spec) = 0;

  // Removes all bytes of the model: none remain in the store's files once Write has returned. Its request records remain
  // without their answers. Works for a quarantined model (with etag 0), as far as its damage allows.
  virtual absl::Status DeleteModel(absl::string_view model, int64_t etag) = 0;

  // Appends one batch (at least one block) and returns the new data_version.
  virtual absl::StatusOr<int64_t> AppendObservations(absl::string_view model,
                                                     absl::Span<const ObservationBlock> batch) = 0;

  // Takes points out of use and appends `batch` (none, or those that replace them) as one version; returns the new
  // data_version. INVALID_ARGUMENT when a range can't be: the caller knows which points exist and are in use.
  virtual absl::StatusOr<int64_t> WithdrawObservations(absl::string_view model, const WithdrawnRows& withdrawn,
                                                       absl::Span<const ObservationBlock> batch) = 0;

  // Creates a PENDING fit with the next id, of the model's present data_version.
  virtual absl::StatusOr<FitRecord> CreateFit(absl::string_view model, absl::string_view options) = 0;

  // Allowed changes of state: PENDING → RUNNING, FAILED, CANCELLED; RUNNING → PENDING, SUCCEEDED, FAILED, CANCELLED.
  // A finished fit changes no more (FAILED_PRECONDITION). `started` and `finished` follow the state.
  virtual absl::StatusOr<FitRecord> UpdateFit(absl::string_view model, int64_t fit, const FitChange& change) = 0;

  // Adds an immutable revision with the next id. It becomes current only by SetCurrentRevision.
  virtual absl::StatusOr<RevisionRecord> AddRevision(absl::string_view model, absl::string_view metadata,
                                                     absl::string_view checkpoint) = 0;

  // `etag` as for UpdateModel. Setting the current revision again changes nothing, the etag included.
  virtual absl::StatusOr<ModelRecord> SetCurrentRevision(absl::string_view model, int64_t etag, int64_t revision) = 0;

  // Removes the bytes of a revision: none remain in the store's files once Write has returned. Its id is not used again.
  // FAILED_PRECONDITION for the current one. Leaves the etag; `etag` as for UpdateModel.
  virtual absl::Status DeleteRevision(absl::string_view model, int64_t etag, int64_t revision) = 0;

  // Remembers the answer to a mutation of `model`, which must exist, or have been deleted in this very transaction.
  // ALREADY_EXISTS when the key is taken: call FindRequest first, in the same transaction.
  virtual absl::Status RecordRequest(absl::string_view model, const RequestKey& key, absl::string_view digest,
                                     absl::string_view answer) = 0;

  // Forgets the requests older than `before`, and the oldest beyond `keep`. Returns how many are forgotten.
  virtual absl::StatusOr<int64_t> PruneRequests(absl::Time before, int64_t keep) = 0;
};

class Store : public StoreReader {
 public:
  // Runs `body` in a transaction of its own and commits it if it returns OK; otherwise rolls back and returns its status.
  // `body` uses only its argument: a call of the store itself would wait for ever.
  virtual absl::Status Write(absl::FunctionRef<absl::Status(StoreTransaction&)> body) = 0;

  // Verifies every checksum and invariant. Empty when all is well. Writers wait meanwhile.
  virtual absl::StatusOr<std::vector<Finding>> Check() = 0;

  // Writes a consistent copy to the file `path`, which must not exist, and fsyncs it. Transactions go on meanwhile.
  virtual absl::Status Backup(const std::string& path) = 0;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_STORE_H_
