// FitScheduler: the queue of fits, and the threads that work on them at a lower priority.
//
// Thread-safe. Fits run in the order of the queue, but no two of one model at a time: the later one waits while others
// pass it. A job is known here from Add until its fit has ended and no worker is at it. One that stops without an
// end, because the server does, stays known.
#ifndef FIDELIO_SERVER_MODEL_FIT_SCHEDULER_H_
#define FIDELIO_SERVER_MODEL_FIT_SCHEDULER_H_

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/model/fit_job.h"
#include "server/telemetry/metrics.h"

namespace fidelio {

class FitScheduler {
 public:
  using Job = std::shared_ptr<FitJob>;

  // `metrics` may be null.
  explicit FitScheduler(Metrics* metrics) : metrics_(metrics) {}
  ~FitScheduler();

  // Starts the workers; each calls run(job) for one job after the other. run returns when the fit has ended or the
  // scheduler drains.
  void Start(int workers, std::function<void(FitJob&)> run);

  void Add(Job job);
  Job Find(absl::string_view model, int64_t fit) const;  // null: not known here (any more)

  // Forgets a job that has ended, if it waits in the queue. One at work is forgotten when its work stops.
  void Remove(const FitJob& job);

  // Forgets all jobs of a model, at once, and returns them. Work on them goes on until it sees that they have ended.
  std::vector<Job> RemoveModel(int64_t uid);

  int64_t queued() const;
  int64_t CountOf(absl::string_view owner) const;  // jobs that have not ended

  // Waits until `time`, but only as long as the job has not ended and the scheduler does not drain.
  void Sleep(const FitJob& job, absl::Time time);

  // Takes no job from the queue any more.
  void Stop();

  // Stops, waits for the workers and joins them. DEADLINE_EXCEEDED when some are still at
  // work at `deadline`. Then ends all watches with `reason`.
  absl::Status Drain(absl::Time deadline, const absl::Status& reason);

 private:
  void Work();
  Job Take();
  void Done(const Job& job);
  Job NextRunnable() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Requeued() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);  // after a change of the queue: positions, metrics

  Metrics* const metrics_;
  std::function<void(FitJob&)> run_;  // constant once workers run

  mutable absl::Mutex mutex_;
  absl::CondVar changed_;
  std::list<Job> queue_ ABSL_GUARDED_BY(mutex_);
  std::map<std::pair<std::string, int64_t>, Job> jobs_ ABSL_GUARDED_BY(mutex_);  // in the queue or at work, by name
  absl::flat_hash_set<int64_t> busy_ ABSL_GUARDED_BY(mutex_);                    // uids of models at work
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  int idle_ ABSL_GUARDED_BY(mutex_) = 0;  // workers that have returned
  std::vector<std::thread> workers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_FIT_SCHEDULER_H_
