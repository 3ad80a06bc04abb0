// ConnectionGuard: cuts connections off that begin calls and give them up, again and again.
//
// A client may reset a stream and begin another one at once (CVE-2023-44487). The limit of concurrent streams does not count
// what was reset, but gRPC keeps ten kilobytes of each until the server has taken it; it reads faster than the server
// takes; and a thread that reads from a connection stays there while there is anything to read. So the guard counts the
// calls of every connection: those that begin, in the thread that reads them, and those that are taken with their
// message. A connection that has more under way than it may have at once, and some, is reset there and then: what
// it has sent is gone, and the thread is free.
//
// gRPC tells that thread of a call's metadata, for authentication, but not where they come from. It is the socket that the
// thread has read last (last_read.h), unless gRPC handed the work to another thread; a connection is reset only if that
// was the same socket, with the same peer, when its first call began. If not, its calls are refused.
//
// Thread-safe.
#ifndef FIDELIO_SERVER_RPC_CONNECTION_GUARD_H_
#define FIDELIO_SERVER_RPC_CONNECTION_GUARD_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "grpc/grpc_security.h"
#include "grpcpp/server_context.h"

namespace fidelio {

class ConnectionGuard {
 public:
  struct Limits {
    int64_t calls_at_once = 0;  // of one connection: more must have been given up
    int64_t given_up = 100;     // in a period: a client may cancel now and then
    absl::Duration period = absl::Seconds(1);
  };
  // `on_cut` is told of every connection that is cut off, with its peer.
  ConnectionGuard(const Limits& limits, std::function<void(const std::string& peer)> on_cut)
      : limits_(limits), on_cut_(std::move(on_cut)) {}
  ConnectionGuard(const ConnectionGuard&) = delete;
  ConnectionGuard& operator=(const ConnectionGuard&) = delete;

  // For the credentials of a port, whose calls the guard then sees. It outlives them.
  grpc_auth_metadata_processor Processor();

  // A call was taken, with its message. At the latest when it has been answered, while its context is there.
  void OnTaken(grpc::ServerContextBase& context) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Connection;
  struct Counts {
    int64_t begun = 0;
    int64_t taken = 0;
  };

  static void Process(void* guard, grpc_auth_context* context, const grpc_metadata* metadata, size_t size,
                      grpc_process_auth_metadata_done_cb done, void* user_data);
  // Whether a call of this connection may go on.
  bool Begin(grpc_auth_context* context) ABSL_LOCKS_EXCLUDED(mutex_);
  // Counts a call that begins. How many are now under way beyond what may be.
  int64_t CountBegun(uint64_t id) ABSL_LOCKS_EXCLUDED(mutex_);

  const Limits limits_;
  const std::function<void(const std::string& peer)> on_cut_;
  std::atomic<uint64_t> last_id_ = 0;  // of a connection
  absl::Mutex mutex_;
  absl::Time end_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();  // of the period
  absl::flat_hash_map<uint64_t, Counts> counts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_CONNECTION_GUARD_H_
