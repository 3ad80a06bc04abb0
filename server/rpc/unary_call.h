// UnaryCall: one call of a method with one message in and one out, from the moment that the server waits for it.
//
// UnaryCall<…>::Listen makes gRPC give the next call of a method to a new object, which makes way for another one when
// the call arrives, has it answered by the method's handler, and deletes itself when gRPC is done with it. Quick calls
// are answered in the thread of the CallLoop that found them, all others in the WorkerPool.
//
// Several objects wait for the calls of a method. Calls for which none waits are kept by gRPC where threads that look for
// something to do don't see them: they would read from connections, which brings more, before these are answered.
#ifndef FIDELIO_SERVER_RPC_UNARY_CALL_H_
#define FIDELIO_SERVER_RPC_UNARY_CALL_H_

#include <atomic>
#include <functional>
#include <utility>

#include "grpcpp/support/async_unary_call.h"
#include "server/rpc/call_parts.h"
#include "server/rpc/completion.h"
#include "server/rpc/unary_context.h"

namespace fidelio {

// What a method is. Outlives its calls.
template <typename Request, typename Response>
struct UnaryMethod {
  // Request* of the generated service.
  std::function<void(grpc::ServerContext*, Request*, grpc::ServerAsyncResponseWriter<Response>*,
                     grpc::ServerCompletionQueue*, void* tag)>
      listen;
  std::function<grpc::Status(grpc::ServerContext*, const Request*, Response*)> handle;
  // Whether the handler is done with such a request in a fraction of a millisecond, and waits for nothing. Null: never.
  std::function<bool(const Request&)> quick;
  // The status of a call for which there is no room in the WorkerPool.
  std::function<grpc::Status(grpc::ServerContext*, const Request*)> refuse;
};

template <typename Request, typename Response>
class UnaryCall final {
 public:
  using Method = UnaryMethod<Request, Response>;

  // Takes the calls of a method from now on, until the loop stops. Once.
  static void Listen(const Method& method, const CallParts& parts) {
    for (int i = 0; i < kListening; ++i) ListenOnce(method, parts);
  }

 private:
  static constexpr int kListening = 16;

  static void ListenOnce(const Method& method, const CallParts& parts) {
    if (!parts.loop->Enter()) return;
    auto* const call = new UnaryCall(method, parts);
    call->context_.AsyncNotifyWhenDone(call->done_.Tag());
    method.listen(&call->context_, &call->request_, &call->responder_, parts.loop->queue(), call->arrived_.Tag());
  }

  UnaryCall(const Method& method, const CallParts& parts) : method_(method), parts_(parts) {}
  ~UnaryCall() = default;

  void OnArrived(bool ok) {
    if (!ok) return Delete();  // the server shuts down
    if (method_.quick && method_.quick(request_)) {
      // The client first: the next one can wait.
      const Method& method = method_;
      const CallParts parts = parts_;
      Answer();
      ListenOnce(method, parts);
    } else {
      Take();
      ListenOnce(method_, parts_);
      if (!parts_.workers->Post([this] { Answer(); })) Finish(method_.refuse(&context_, &request_));
    }
  }

  void Answer() { Finish(method_.handle(&context_, &request_, &response_)); }

  // Afterwards the call may be gone, but not before: gRPC may tell another thread of the end while this one still writes.
  void Finish(const grpc::Status& status) {
    if (status.ok()) {
      responder_.Finish(response_, status, finished_.Tag());
    } else {
      responder_.FinishWithError(status, finished_.Tag());
    }
    Take();
    context_.OnAnswered();
    OnEnd(true);
  }

  // Early, if the answer may take long; after it, if not.
  void Take() {
    if (!std::exchange(taken_, true)) parts_.guard->OnTaken(context_);
  }

  void OnEnd(bool /*ok*/) {
    if (ends_.fetch_sub(1, std::memory_order_acq_rel) == 1) Delete();
  }

  void Delete() {
    CallLoop* const loop = parts_.loop;
    delete this;
    loop->Leave();
  }

  const Method& method_;
  const CallParts parts_;
  MemberCompletion<UnaryCall, &UnaryCall::OnArrived> arrived_{this};
  MemberCompletion<UnaryCall, &UnaryCall::OnEnd> finished_{this};
  MemberCompletion<UnaryCall, &UnaryCall::OnEnd> done_{this};  // makes context_.IsCancelled() true, if it is
  std::atomic<int> ends_ = 3;                                  // of Finish, finished_ and done_, in whatever order
  bool taken_ = false;
  UnaryContext context_;
  Request request_;
  Response response_;
  grpc::ServerAsyncResponseWriter<Response> responder_{&context_};
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_UNARY_CALL_H_
