// ServiceContext: what all parts of a ModelService share: the store, the index, the cache, the lock of writers, and the
// memory of requests.
//
// Thread-safe. Order of locks: writers_, then the store's; then any of the index's, the cache's, the scheduler's or a
// job's. Functions given to Commit and Mutate run under writers_ and must not call either.
#ifndef FIDELIO_SERVER_MODEL_SERVICE_CONTEXT_H_
#define FIDELIO_SERVER_MODEL_SERVICE_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "core/base/status_macros.h"
#include "server/model/codec.h"
#include "server/model/model_index.h"
#include "server/model/model_service_options.h"
#include "server/model/revision_cache.h"
#include "server/store/store.h"

namespace fidelio {

// Says what a mutation is: its method and body are what the same request_id must repeat.
struct MutationName {
  absl::string_view method;
  absl::string_view model;
};

class ServiceContext {
 public:
  ServiceContext(Store* store, ModelServiceOptions options);

  Store& store() const { return *store_; }
  const ModelServiceOptions& options() const { return options_; }
  ModelIndex& index() { return index_; }
  RevisionCache& cache() { return cache_; }

  // NOT_FOUND, or DATA_LOSS when it is quarantined.
  absl::StatusOr<IndexedModelPtr> Find(absl::string_view model) const;

  // What a call answers for an error of the store (or of bytes that it kept) about `model`: with the details of
  // server/status. Damage quarantines the model.
  absl::Status Explain(const absl::Status& status, absl::string_view model);

  // Runs body(transaction) in a transaction of its own; when that is committed, calls applied() before any other writer.
  absl::Status Commit(absl::FunctionRef<absl::Status(StoreTransaction&)> body, absl::FunctionRef<void()> applied);

  // Runs body() while no writer is at work.
  void WithoutWriters(absl::FunctionRef<void()> body);

  // Commit of a mutation that a caller asked for, with the replay of remembered answers: body(transaction) gives the
  // answer, which is remembered in the same transaction and given to applied(answer). Errors are explained.
  template <typename Answer>
  absl::StatusOr<Answer> Mutate(const MutationContext& context, const MutationName& name,
                                absl::FunctionRef<absl::StatusOr<Answer>(StoreTransaction&)> body,
                                absl::FunctionRef<void(const Answer&)> applied);

  // As Mutate, without an answer. A model that was deleted since the first call is no error: of DeleteModel.
  absl::Status MutateWithoutAnswer(const MutationContext& context, const MutationName& name,
                                   absl::FunctionRef<absl::Status(StoreTransaction&)> body,
                                   absl::FunctionRef<void()> applied);

  // From now on mutations are UNAVAILABLE; returns when none is under way. Commit still works.
  void BeginDrain();
  bool draining() const { return draining_; }

 private:
  struct Remembered {
    std::string answer = {};
    bool erased = false;
  };

  // Runs body(transaction), which gives the answer's bytes, unless there is one already: then returns that.
  absl::StatusOr<std::optional<Remembered>> Run(const MutationContext& context, const MutationName& name,
                                                absl::FunctionRef<absl::StatusOr<std::string>(StoreTransaction&)> body,
                                                absl::FunctionRef<void()> applied);

  absl::StatusOr<std::optional<Remembered>> Recall(const StoreTransaction& transaction, const MutationName& name,
                                                   const RequestKey& key, absl::string_view digest) const;

  absl::Status CommitLocked(absl::FunctionRef<absl::Status(StoreTransaction&)> body, absl::FunctionRef<void()> applied)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writers_);

  Store* const store_;
  const ModelServiceOptions options_;
  ModelIndex index_;
  RevisionCache cache_;
  std::atomic<bool> draining_ = false;  // set under writers_

  absl::Mutex writers_;
  int64_t remembered_ ABSL_GUARDED_BY(writers_) = 0;  // requests since the last pruning
};

// OK unless `etag` is given and is not the model's of now.
absl::Status CheckEtag(absl::string_view etag, const ModelRecord& record);

template <typename Answer>
absl::StatusOr<Answer> ServiceContext::Mutate(const MutationContext& context, const MutationName& name,
                                              absl::FunctionRef<absl::StatusOr<Answer>(StoreTransaction&)> body,
                                              absl::FunctionRef<void(const Answer&)> applied) {
  std::optional<Answer> answer;
  FIDELIO_ASSIGN_OR_RETURN(const std::optional<Remembered> remembered,
                           Run(
                               context, name,
                               [&](StoreTransaction& transaction) -> absl::StatusOr<std::string> {
                                 FIDELIO_ASSIGN_OR_RETURN(answer, body(transaction));
                                 return Encode(*answer);
                               },
                               [&] { applied(*answer); }));
  if (!remembered) return *std::move(answer);
  if (remembered->erased) {
    return absl::NotFoundError(absl::StrCat("request_id: \"", context.request_id,
                                            "\" was completed before, but the model has been deleted since; "
                                            "use a new request_id"));
  }
  return Decode<Answer>(remembered->answer);
}

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_SERVICE_CONTEXT_H_
