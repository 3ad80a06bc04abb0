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
// thread has read last (last_read.h), unless gRPC handed the work to a thread that has read another one before. So a
// connection is reset only when its calls came by the same socket in more than one read, and no other connection's calls
// seem to come by that one. Until then its calls are refused.
//
// Calls that gRPC answers itself, as those of unknown methods, are never taken. Nobody needs hundreds of them in a second.
//
// Thread-safe.
#ifndef FIDELIO_SERVER_RPC_CONNECTION_GUARD_H_
#define FIDELIO_SERVER_RPC_CONNECTION_GUARD_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "grpc/grpc_security.h"
#include "grpcpp/server_context.h"
#include "server/rpc/last_read.h"

namespace fidelio {

class ConnectionGuard {
 public:
  struct Limits {
    int64_t calls_at_once = 0;  // of one connection: more must have been given up
    int64_t given_up = 100;     // in a period: a client may cancel now and then
    std::chrono::nanoseconds period = std::chrono::seconds(1);
  };
  // `on_cut` is told of every connection that is cut off, with its peer.
  ConnectionGuard(const Limits& limits, std::function<void(const std::string& peer)> on_cut)
      : limits_(limits), on_cut_(std::move(on_cut)) {}
  // After all that uses its processor: waits for a thread of gRPC that just leaves.
  ~ConnectionGuard() { absl::MutexLock lock(&mutex_); }
  ConnectionGuard(const ConnectionGuard&) = delete;
  ConnectionGuard& operator=(const ConnectionGuard&) = delete;

  // For the credentials of a port, whose calls the guard then sees. It outlives them.
  grpc_auth_metadata_processor Processor();

  // A call was taken, with its message: when it begins to wait for an answer, or has got it.
  void OnTaken(grpc::ServerContextBase& context) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // A connection in a period.
  struct Connection {
    int64_t begun = 0;
    int64_t taken = 0;
    SocketRead read;   // that the last call came by
    std::string peer;  // of its socket
    int reads = 0;     // of this socket, one after the other
    bool cut = false;
  };

  static void Process(void* guard, grpc_auth_context* context, const grpc_metadata* metadata, size_t size,
                      grpc_process_auth_metadata_done_cb done, void* user_data);
  // A call begins in this thread. Whether it may go on.
  bool Begin(uint64_t number) ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether the connection is to be reset now: its socket is known.
  bool Cut(Connection& connection) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Limits limits_;
  const std::function<void(const std::string& peer)> on_cut_;
  std::atomic<uint64_t> last_number_ = 0;  // of a connection
  absl::Mutex mutex_;
  std::chrono::steady_clock::time_point end_ ABSL_GUARDED_BY(mutex_);  // of the period
  absl::flat_hash_map<uint64_t, Connection> connections_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_CONNECTION_GUARD_H_
