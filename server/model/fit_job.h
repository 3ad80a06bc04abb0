// FitJob: a fit that has not ended yet, with all who watch it.
//
// Thread-safe. State machine (MayBecome): PENDING → RUNNING, FAILED, CANCELLED; RUNNING → SUCCEEDED, FAILED, CANCELLED.
// A job whose fit has ended changes no more, so that whoever ends it first (the work, a cancellation, a deletion) decides.
// It ends only under the service's lock of writers, after the store has committed that end.
#ifndef FIDELIO_SERVER_MODEL_FIT_JOB_H_
#define FIDELIO_SERVER_MODEL_FIT_JOB_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/model/fit_watch.h"
#include "server/model/model_types.h"

namespace fidelio {

bool MayBecome(FitState from, FitState to);

class FitJob {
 public:
  // `uid` is that of its model (IndexedModel), `owner` whoever started it.
  FitJob(int64_t uid, std::string owner, FitInfo info);

  int64_t uid() const { return uid_; }
  const std::string& owner() const { return owner_; }
  const std::string& model() const { return model_; }
  int64_t id() const { return id_; }

  FitInfo Get() const;

  // Whether the fit has ended; work on it must stop.
  bool ended() const { return ended_; }

  // Changes what is known of the fit and tells the watches. No effect on a fit that has ended, nor a change of state that
  // MayBecome forbids.
  void Update(absl::FunctionRef<void(FitInfo&)> change);

  // Adds a watch, whose first event is the state of now. The job keeps no hold on it.
  void Watch(const std::shared_ptr<FitWatch>& watch);

  // Ends the watches without a last event: the server stops, the fit does not.
  void FailWatches(const absl::Status& status);

 private:
  const int64_t uid_;
  const std::string owner_;
  const std::string model_;
  const int64_t id_;
  std::atomic<bool> ended_;

  mutable absl::Mutex mutex_;
  FitInfo info_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<FitWatch>> watches_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_FIT_JOB_H_
