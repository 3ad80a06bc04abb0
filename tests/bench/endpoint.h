// Endpoint: where a server that is killed and restarted is to be found, and calls that outlive its restarts.
//
// Thread-safe.
#ifndef FIDELIO_TESTS_BENCH_ENDPOINT_H_
#define FIDELIO_TESTS_BENCH_ENDPOINT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/cpp/errors.h"
#include "fidelio/v1/emulator.grpc.pb.h"
#include "grpcpp/client_context.h"

namespace fidelio::bench {

class Endpoint {
 public:
  using Stub = v1::Emulator::Stub;
  template <typename Request, typename Response>
  using Method = grpc::Status (Stub::*)(grpc::ClientContext*, const Request&, Response*);

  // From now on calls go there.
  void MoveTo(const std::shared_ptr<grpc::Channel>& channel);

  // Calls `attempt` until it is answered: UNAVAILABLE, and the deadline of one attempt, are tried again, at once when the
  // server has moved meanwhile. DEADLINE_EXCEEDED when that takes longer than `patience`.
  absl::Status Retry(absl::Duration patience,
                     absl::FunctionRef<absl::Status(Stub& stub, grpc::ClientContext& context)> attempt);

  // The same for a unary call. Retries of a mutation carry the request_id of the request.
  template <typename Request, typename Response>
  absl::Status Call(Method<Request, Response> method, const Request& request, Response* response,
                    absl::Duration patience) {
    return Retry(patience, [&](Stub& stub, grpc::ClientContext& context) {
      response->Clear();
      return client::ToStatus((stub.*method)(&context, request, response));
    });
  }

  int64_t retries() const { return retries_.load(); }  // of all calls so far

 private:
  struct Place {
    std::shared_ptr<Stub> stub;
    int64_t moves = 0;
  };

  absl::Mutex mutex_;
  Place place_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int64_t> retries_{0};
};

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_ENDPOINT_H_
