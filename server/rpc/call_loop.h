// CallLoop: the few threads that read from connections, take calls from gRPC and answer the quick ones.
//
// A server has one completion queue that is polled, this one's. That matters twice. A thread that polls for another queue
// reads calls that are not its own and must wake a thread of this one, which costs more than a small prediction. And
// threads of one queue read from connections only when all that was read before has been taken: whoever sends calls
// faster than the server can answer or refuse them is slowed down by TCP, instead of filling the memory.
//
// Whatever takes long or waits runs in the WorkerPool, so that these threads are free to answer health checks.
//
// Calls are objects that delete themselves. The loop counts them, so that it ends after the last.
//
// Thread-safe.
#ifndef FIDELIO_SERVER_RPC_CALL_LOOP_H_
#define FIDELIO_SERVER_RPC_CALL_LOOP_H_

#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/completion_queue.h"

namespace fidelio {

class CallLoop {
 public:
  explicit CallLoop(std::unique_ptr<grpc::ServerCompletionQueue> queue) : queue_(std::move(queue)) {}
  // After Stop, or without Start.
  ~CallLoop();
  CallLoop(const CallLoop&) = delete;
  CallLoop& operator=(const CallLoop&) = delete;

  // Once, when the server runs.
  void Start(int threads);

  // When the server has shut down: takes no more calls, waits for the end of those there are, and joins.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // A call wants to be: false once the loop stops. Every true needs one Leave, after the call's last operation.
  bool Enter() ABSL_LOCKS_EXCLUDED(mutex_);
  void Leave() ABSL_LOCKS_EXCLUDED(mutex_);

  grpc::ServerCompletionQueue* queue() { return queue_.get(); }

 private:
  void Run();

  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::vector<std::thread> threads_;
  bool shut_ = false;  // of Stop
  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t calls_ ABSL_GUARDED_BY(mutex_) = 0;  // also those that wait for a client
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_CALL_LOOP_H_
