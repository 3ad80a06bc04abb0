// UnaryCall: one call of a method with one message in and one out, from the moment that the server waits for it.
//
// UnaryCall<…>::Listen makes gRPC give the next call of a method to a new object, which makes way for another one when
// the call arrives, has it answered by the method's handler, and deletes itself when gRPC is done with it. Quick calls
// are answered in the thread of the CallLoop that found them, all others in the WorkerPool.
#ifndef FIDELIO_SERVER_RPC_UNARY_CALL_H_
#define FIDELIO_SERVER_RPC_UNARY_CALL_H_

#include <atomic>
#include <functional>

#include "grpcpp/support/async_unary_call.h"
#include "server/rpc/call_loop.h"
#include "server/rpc/completion.h"
#include "server/rpc/unary_context.h"
#include "server/rpc/worker_pool.h"

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

  // Does nothing once the loop stops.
  static void Listen(const Method& method, CallLoop* loop, WorkerPool* workers) {
    if (!loop->Enter()) return;
    auto* const call = new UnaryCall(method, loop, workers);
    call->context_.AsyncNotifyWhenDone(call->done_.Tag());
    method.listen(&call->context_, &call->request_, &call->responder_, loop->queue(), call->arrived_.Tag());
  }

 private:
  UnaryCall(const Method& method, CallLoop* loop, WorkerPool* workers)
      : method_(method), loop_(loop), workers_(workers) {}
  ~UnaryCall() = default;

  void OnArrived(bool ok) {
    if (!ok) {  // the server shuts down
      Delete();
    } else if (method_.quick && method_.quick(request_)) {
      // The client first: the next one can wait.
      const Method& method = method_;
      CallLoop* const loop = loop_;
      WorkerPool* const workers = workers_;
      Answer();
      Listen(method, loop, workers);
    } else {
      Listen(method_, loop_, workers_);
      if (!workers_->Post([this] { Answer(); })) Finish(method_.refuse(&context_, &request_));
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
    context_.OnAnswered();
    OnEnd(true);
  }

  void OnEnd(bool /*ok*/) {
    if (ends_.fetch_sub(1, std::memory_order_acq_rel) == 1) Delete();
  }

  void Delete() {
    CallLoop* const loop = loop_;
    delete this;
    loop->Leave();
  }

  const Method& method_;
  CallLoop* const loop_;
  WorkerPool* const workers_;
  MemberCompletion<UnaryCall, &UnaryCall::OnArrived> arrived_{this};
  MemberCompletion<UnaryCall, &UnaryCall::OnEnd> finished_{this};
  MemberCompletion<UnaryCall, &UnaryCall::OnEnd> done_{this};  // makes context_.IsCancelled() true, if it is
  std::atomic<int> ends_ = 3;                                  // of Finish, finished_ and done_, in whatever order
  UnaryContext context_;
  Request request_;
  Response response_;
  grpc::ServerAsyncResponseWriter<Response> responder_{&context_};
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_UNARY_CALL_H_
