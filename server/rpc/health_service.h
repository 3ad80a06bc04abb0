// HealthService: grpc.health.v1 of a server whose services are all healthy, or none of them.
//
// Check and Watch are answered in the threads of the CallLoop, which never wait: a server whose workers are all busy is
// busy, not unhealthy.
//
// Thread-safe. Must outlive its calls.
#ifndef FIDELIO_SERVER_RPC_HEALTH_SERVICE_H_
#define FIDELIO_SERVER_RPC_HEALTH_SERVICE_H_

#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "server/rpc/call_parts.h"
#include "server/rpc/unary_call.h"
#include "server/rpc/watch_call.h"

namespace fidelio {

class HealthService {
 public:
  // Knows "", the server as a whole, and `services`. None serves yet.
  explicit HealthService(std::vector<std::string> services);

  grpc::Service* service() { return &service_; }
  // Takes calls from now on, until the loop stops.
  void Listen(const CallParts& parts);

  void SetServing(bool serving) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Request = grpc::health::v1::HealthCheckRequest;
  using Response = grpc::health::v1::HealthCheckResponse;
  using Status = Response::ServingStatus;
  class Watch;

  Status StatusOf(const std::string& service) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  grpc::Status Check(const Request& request, Response* response) const ABSL_LOCKS_EXCLUDED(mutex_);
  void StartWatch(WatchStream<Response>* stream, const Request& request) ABSL_LOCKS_EXCLUDED(mutex_);

  grpc::health::v1::Health::AsyncService service_;
  UnaryMethod<Request, Response> check_;
  WatchMethod<Request, Response> watch_;
  const absl::flat_hash_set<std::string> services_;
  mutable absl::Mutex mutex_;
  bool serving_ ABSL_GUARDED_BY(mutex_) = false;
  absl::flat_hash_set<Watch*> watches_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_HEALTH_SERVICE_H_
