// WatchCall: one call of a method with one message in and a stream of messages out that may take long to come, from the
// moment that the server waits for it. It needs no thread while nothing happens.
//
// WatchCall<…>::Listen makes gRPC give the next call of a method to a new object. When the call arrives, `start` makes a
// Watcher for it, which writes messages one after the other and finishes. The call deletes itself at the end.
#ifndef FIDELIO_SERVER_RPC_WATCH_CALL_H_
#define FIDELIO_SERVER_RPC_WATCH_CALL_H_

#include <atomic>
#include <functional>

#include "grpcpp/server_context.h"
#include "grpcpp/support/async_stream.h"
#include "server/rpc/call_parts.h"
#include "server/rpc/completion.h"

namespace fidelio {

// Its functions run in threads of the CallLoop and must not wait for anything.
class Watcher {
 public:
  // The message has been sent, or (not ok) the call is over and only Finish makes sense.
  virtual void OnWritten(bool ok) = 0;
  // The client went away or its deadline passed. IsCancelled() of the context says so, too, from before this call on; a
  // Watcher that looks there after Bind misses nothing.
  virtual void OnCancel() = 0;
  // After Finish, and after all of the above. The stream and the context are gone when it returns.
  virtual void OnDone() = 0;

 protected:
  ~Watcher() = default;
};

template <typename Response>
class WatchStream {
 public:
  // Before anything else.
  virtual void Bind(Watcher* watcher) = 0;
  // The one before must have been written. `response` is copied.
  virtual void Write(const Response& response) = 0;
  // Once; no Write may be under way.
  virtual void Finish(const grpc::Status& status) = 0;
  virtual grpc::ServerContext* context() = 0;

 protected:
  ~WatchStream() = default;
};

// What a method is. Outlives its calls.
template <typename Request, typename Response>
struct WatchMethod {
  // Request* of the generated service.
  std::function<void(grpc::ServerContext*, Request*, grpc::ServerAsyncWriter<Response>*, grpc::ServerCompletionQueue*,
                     void* tag)>
      listen;
  // Makes a Watcher and binds it. The stream exists until OnDone returns.
  std::function<void(WatchStream<Response>*, const Request&)> start;
};

template <typename Request, typename Response>
class WatchCall final : public WatchStream<Response> {
 public:
  using Method = WatchMethod<Request, Response>;

  // Does nothing once the loop stops.
  static void Listen(const Method& method, const CallParts& parts) {
    if (!parts.loop->Enter()) return;
    auto* const call = new WatchCall(method, parts);
    call->context_.AsyncNotifyWhenDone(call->done_.Tag());
    method.listen(&call->context_, &call->request_, &call->writer_, parts.loop->queue(), call->arrived_.Tag());
  }

  void Bind(Watcher* watcher) override { watcher_.store(watcher, std::memory_order_release); }
  void Write(const Response& response) override { writer_.Write(response, written_.Tag()); }
  void Finish(const grpc::Status& status) override { writer_.Finish(status, finished_.Tag()); }
  grpc::ServerContext* context() override { return &context_; }

 private:
  WatchCall(const Method& method, const CallParts& parts) : method_(method), parts_(parts) {}
  ~WatchCall() = default;

  void OnArrived(bool ok) {
    if (!ok) return Delete();  // the server shuts down
    parts_.guard->OnTaken(context_);
    Listen(method_, parts_);
    method_.start(this, request_);
    OnEnd();
  }

  void OnWritten(bool ok) { watcher_.load(std::memory_order_acquire)->OnWritten(ok); }

  void OnFinished(bool /*ok*/) { OnEnd(); }

  void OnClosed(bool /*ok*/) {
    Watcher* const watcher = watcher_.load(std::memory_order_acquire);
    if (watcher != nullptr && context_.IsCancelled()) watcher->OnCancel();
    OnEnd();
  }

  void OnEnd() {
    if (ends_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    watcher_.load(std::memory_order_acquire)->OnDone();
    Delete();
  }

  void Delete() {
    CallLoop* const loop = parts_.loop;
    delete this;
    loop->Leave();
  }

  const Method& method_;
  const CallParts parts_;
  MemberCompletion<WatchCall, &WatchCall::OnArrived> arrived_{this};
  MemberCompletion<WatchCall, &WatchCall::OnWritten> written_{this};
  MemberCompletion<WatchCall, &WatchCall::OnFinished> finished_{this};
  MemberCompletion<WatchCall, &WatchCall::OnClosed> done_{this};
  std::atomic<int> ends_ = 3;  // of OnArrived, OnFinished and OnClosed, in whatever order
  std::atomic<Watcher*> watcher_ = nullptr;
  grpc::ServerContext context_;
  Request request_;
  grpc::ServerAsyncWriter<Response> writer_{&context_};
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_WATCH_CALL_H_
