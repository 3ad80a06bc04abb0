// Call: one RPC from its arrival to its end: who calls, whether they may, and what is logged and counted about it.
//
//   Call call(environment, methods::kPredict, CallGate::Kind::kUnary, context);
//   return call.End([&]() -> absl::Status { FIDELIO_RETURN_IF_ERROR(call.Admit()); … }());
//
// Every call that has ended is counted once, and logged with one line, when it is destroyed, also when it was refused. Checks
// come in this order, so that nobody learns anything that a later check protects: server draining, token, role, the form
// of the model's name, the token's prefix, existence.
//
// Belongs to one thread at a time; Stopped may be called from any.
#ifndef FIDELIO_SERVER_RPC_CALL_H_
#define FIDELIO_SERVER_RPC_CALL_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "google/protobuf/message_lite.h"
#include "grpcpp/server_context.h"
#include "server/auth/authenticator.h"
#include "server/auth/principal.h"
#include "server/rpc/call_gate.h"
#include "server/rpc/connection_guard.h"
#include "server/rpc/methods.h"
#include "server/telemetry/logger.h"
#include "server/telemetry/metrics.h"

namespace fidelio {

// What calls share. All must outlive them.
struct CallEnvironment {
  Authenticator* authenticator = nullptr;
  Logger* logger = nullptr;
  Metrics* metrics = nullptr;
  CallGate* gate = nullptr;
  ConnectionGuard* guard = nullptr;
};

class Call {
 public:
  Call(const CallEnvironment& environment, const Method& method, CallGate::Kind kind, grpc::ServerContextBase* context);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // OK when the server takes calls, the token is known and its role suffices. The first thing to ask.
  absl::Status Admit();

  // `model` is well-formed, as {model} of its name. OK when the caller's prefix allows it.
  absl::Status AdmitModel(absl::string_view model);

  const Principal& principal() const { return principal_; }
  // Whether the principal is one of the tokens, rather than everybody.
  bool authenticated() const { return environment_.authenticator->required(); }

  // What the client wrote as the name of the model, for the log.
  void SetModel(absl::string_view name);
  void CountReceived(const google::protobuf::MessageLite& message);
  void CountSent(const google::protobuf::MessageLite& message);

  // When the client stops waiting.
  absl::Time deadline() const { return absl::FromChrono(context_->deadline()); }

  // Whether nobody waits for the answer any more: work should stop.
  bool Stopped() const { return context_->IsCancelled(); }
  // Why: DEADLINE_EXCEEDED or CANCELLED. OK while the call goes on.
  absl::Status StopReason() const;
  // The same for streams, which also end when the server shuts down.
  absl::Status StreamStopReason() const;

  // To be called once, last.
  grpc::Status End(absl::Status status);

 private:
  void Log() const;

  const CallEnvironment environment_;  // a copy: watches may outlive the service by a moment
  const Method& method_;
  const CallGate::Kind kind_;
  grpc::ServerContextBase* const context_;
  const absl::Time start_;
  bool entered_ = false;
  Principal principal_;
  std::string model_;
  int64_t bytes_in_ = 0;
  int64_t bytes_out_ = 0;
  // Of End. The context may be gone when the call is destroyed.
  absl::optional<absl::Status> ended_;
  double seconds_ = 0;
  std::string peer_;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_CALL_H_
