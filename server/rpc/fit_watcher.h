// FitWatcher: one WatchFit call: passes the events of a FitWatch to its client, one message at a time.
//
// While a message is on its way, newer events replace each other in the FitWatch: a slow client costs no memory and
// loses events between. The call ends after the last event, or as soon as the client goes away or the server drains.
//
// It lives in three kinds of threads: those of the CallLoop and of the fit's notification only post to `tasks`, where all
// the work is done (Start and OnDone aside), so that neither ever waits for the store or for a client.
#ifndef FIDELIO_SERVER_RPC_FIT_WATCHER_H_
#define FIDELIO_SERVER_RPC_FIT_WATCHER_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "fidelio/v1/emulator.pb.h"
#include "server/model/model_service.h"
#include "server/rpc/call.h"
#include "server/rpc/names.h"
#include "server/rpc/task_thread.h"
#include "server/rpc/watch_call.h"

namespace fidelio {

class FitWatcher final : public Watcher, public std::enable_shared_from_this<FitWatcher> {
 public:
  // Deletes itself when the call is done. Everything but `request` outlives the call.
  static void Start(const ModelService* models, TaskThread* tasks, const CallEnvironment& environment,
                    WatchStream<v1::WatchFitResponse>* stream, const v1::WatchFitRequest& request);

  void OnWritten(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  FitWatcher(const ModelService* models, TaskThread* tasks, const CallEnvironment& environment,
             WatchStream<v1::WatchFitResponse>* stream)
      : models_(models),
        tasks_(tasks),
        gate_(environment.gate),
        stream_(stream),
        call_(environment, methods::kWatchFit, CallGate::Kind::kWatch, stream->context()) {}

  // Has Pump run in `tasks_` soon.
  void PostPump();

  // The following run in `tasks_` alone.
  void Open(const ChildName& fit);
  void Pump();
  void End(absl::Status status);

  const ModelService* const models_;
  TaskThread* const tasks_;
  CallGate* const gate_;
  WatchStream<v1::WatchFitResponse>* const stream_;
  std::shared_ptr<FitWatcher> self_;  // from Start to OnDone

  std::atomic<bool> posted_ = false;  // a Pump is waiting to run
  std::atomic<bool> writing_ = false;
  std::atomic<bool> write_failed_ = false;

  // Of `tasks_`, once Start has posted its first task.
  Call call_;
  std::shared_ptr<FitWatch> watch_;
  std::optional<CallGate::Waiting> waiting_;  // while a message is on its way
  v1::WatchFitResponse response_;
  bool last_ = false;   // the last event was written or is being so
  bool ended_ = false;  // Finish was called
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_FIT_WATCHER_H_
