// CallLoop: the few threads that read from connections, take calls from gRPC and answer the quick ones.
//
// A server has one completion queue that is polled, this one's. That matters twice. A thread that polls for another queue
// reads calls that are not its own and must wake a thread of this one, which costs more than a small prediction. And
// threads of one queue read from connections only when all that was read before has been taken: whoever sends calls
// faster than the server can answer or refuse them is slowed down by TCP, instead of filling the memory.
//
// Whatever takes long or waits runs in the WorkerPool, so that these threads are free to answer health checks. But gRPC
// works in them, too, before it has anything to tell: it opens connections, unpacks headers, and does not turn to the
// next connection before it has read all there is on one. So the loop watches its threads: one of them waits for news. When
// it is held up, or when all that are not idle have too much to do and there are more processors, another one takes over
// the waiting within milliseconds.
//
// Two wait in gRPC only while there is much to do: each operation that ends in one thread wakes the other, and when there is
// little the two hand every call back and forth, which takes longer than a small prediction. A thread that had too much to
// do helps the new one until it has found nothing to do for milliseconds. One that was held up takes nothing more.
//
// Calls are objects that delete themselves. The loop counts them, so that it ends after the last.
//
// Thread-safe.
#ifndef FIDELIO_SERVER_RPC_CALL_LOOP_H_
#define FIDELIO_SERVER_RPC_CALL_LOOP_H_

#include <time.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "grpcpp/completion_queue.h"

namespace fidelio {

class CallLoop {
 public:
  explicit CallLoop(std::unique_ptr<grpc::ServerCompletionQueue> queue) : queue_(std::move(queue)) {}
  // After Stop, or without Start.
  ~CallLoop();
  CallLoop(const CallLoop&) = delete;
  CallLoop& operator=(const CallLoop&) = delete;

  // Once, when the server runs, with at most so many threads that read (1 or more), and one that watches them.
  void Start(int max_threads) ABSL_LOCKS_EXCLUDED(mutex_);

  // When the server has shut down: takes no more calls, waits for the end of those there are, and joins.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // A call wants to be: false once the loop stops. Every true needs one Leave, after the call's last operation. Neither
  // takes a lock before Stop: every call comes here, and releasing a lock looks at all who wait for it.
  bool Enter() ABSL_LOCKS_EXCLUDED(mutex_);
  void Leave() ABSL_LOCKS_EXCLUDED(mutex_);

  grpc::ServerCompletionQueue* queue() { return queue_.get(); }

  // Threads that are not idle: the one that waits, and those that are at work.
  int readers() const { return readers_.load(std::memory_order_relaxed); }

 private:
  // A thread that reads when it is its turn. Written by itself, looked at by the one that watches.
  struct Reader {
    std::atomic<bool> idle = true;
    std::thread thread;
    clockid_t cpu_clock = 0;
    std::atomic<bool> helps = false;  // takes what comes, although another one waits
    std::atomic<int64_t> completions = 0;
    std::atomic<bool> completing = false;
    std::counting_semaphore<> turn{0};  // to wait in gRPC, or to end
    // What Watch saw last.
    int64_t seen_completions = 0;
    int64_t seen_cpu_nanoseconds = 0;
  };

  void Read(int index);
  // Returns when the thread is to wait in gRPC, or to end.
  void Idle(int index);
  void Watch() ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether the loop stops; false when `timeout` passes before.
  bool AwaitStopped(absl::Duration timeout) ABSL_LOCKS_EXCLUDED(mutex_);
  // What a thread did since it was last looked at, `elapsed` ago: nothing, because nothing was to be done or no processor
  // was to be had, which another thread would not get either; it had time; it had none, with all that it finished; it
  // finished nothing, although it was at work.
  enum class Work { kNone, kLittle, kMuch, kHeldUp };
  static Work Look(Reader& reader, absl::Duration elapsed);

  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::vector<std::unique_ptr<Reader>> all_readers_;
  std::thread watch_;
  bool shut_ = false;  // of Stop
  mutable absl::Mutex mutex_;
  std::atomic<int> waiting_ = 0;  // index of the thread that waits in gRPC
  std::atomic<int> readers_ = 1;
  std::atomic<bool> stopping_ = false;            // no new calls
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;  // Watch ends
  std::atomic<bool> ending_ = false;              // the others end
  std::atomic<int64_t> calls_ = 0;                // also those that wait for a client
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_CALL_LOOP_H_
