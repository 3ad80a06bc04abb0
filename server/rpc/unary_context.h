// UnaryContext: gRPC's context of a UnaryCall, and the Call that its handler began, which ends when the answer is on its
// way: the client need not wait for a line in the log.
#ifndef FIDELIO_SERVER_RPC_UNARY_CONTEXT_H_
#define FIDELIO_SERVER_RPC_UNARY_CONTEXT_H_

#include <optional>

#include "grpcpp/server_context.h"
#include "server/rpc/call.h"

namespace fidelio {

class UnaryContext final : public grpc::ServerContext {
 public:
  // `context` is that of a UnaryCall, as all that its handler gets.
  static UnaryContext& Of(grpc::ServerContext* context) { return *static_cast<UnaryContext*>(context); }

  Call& Begin(const CallEnvironment& environment, const Method& method) {
    return call_.emplace(environment, method, CallGate::Kind::kUnary, this);
  }
  void OnAnswered() { call_.reset(); }

 private:
  std::optional<Call> call_;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_UNARY_CONTEXT_H_
