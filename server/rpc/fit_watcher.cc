#include "server/rpc/fit_watcher.h"

#include <utility>

#include "server/rpc/convert.h"
#include "server/rpc/request.h"

namespace fidelio {

void FitWatcher::Start(const ModelService* models, TaskThread* tasks, const CallEnvironment& environment,
                       WatchStream<v1::WatchFitResponse>* stream, const v1::WatchFitRequest& request) {
  const std::shared_ptr<FitWatcher> watcher(new FitWatcher(models, tasks, environment, stream));
  watcher->self_ = watcher;
  stream->Bind(watcher.get());
  watcher->call_.CountReceived(request);
  absl::Status status = watcher->call_.Admit();
  ChildName fit;
  if (status.ok()) {
    absl::StatusOr<ChildName> name = AdmitFitName(watcher->call_, request.name(), "name");
    status = name.status();
    if (name.ok()) fit = *std::move(name);
  }
  if (status.ok()) {
    tasks->Post([watcher, fit = std::move(fit)] { watcher->Open(fit); });
  } else {
    watcher->End(std::move(status));
  }
}

void FitWatcher::Open(const ChildName& fit) {
  // Weak: the last reference must not go away within the notification, where the watch may not be destroyed.
  absl::StatusOr<std::shared_ptr<FitWatch>> watch =
      models_->WatchFit(fit.model, fit.number, [weak = weak_from_this(), tasks = tasks_] {
        tasks->Post([weak] {
          if (const std::shared_ptr<FitWatcher> watcher = weak.lock()) watcher->Pump();
        });
      });
  if (!watch.ok()) return End(watch.status());
  watch_ = *std::move(watch);
  Pump();
}

void FitWatcher::PostPump() {
  if (posted_.exchange(true)) return;
  tasks_->Post([watcher = shared_from_this()] {
    watcher->posted_ = false;
    watcher->Pump();
  });
}

void FitWatcher::Pump() {
  if (ended_ || watch_ == nullptr) return;
  if (!writing_) waiting_.reset();
  if (absl::Status stop = call_.StreamStopReason(); !stop.ok()) {
    if (!writing_) End(std::move(stop));
    return;  // otherwise when the write is done, which the cancellation hastens
  }
  if (writing_) return;
  if (write_failed_) return End(absl::CancelledError("the client went away"));
  if (last_) return End(absl::OkStatus());
  absl::StatusOr<std::optional<FitEvent>> event = watch_->TryNext();
  if (!event.ok()) return End(event.status());
  if (!event->has_value()) return;
  last_ = (*event)->last;
  response_.Clear();
  ToMessage((*event)->fit, response_.mutable_fit());
  call_.CountSent(response_);
  writing_ = true;
  waiting_.emplace(gate_);
  stream_->Write(response_);
}

void FitWatcher::End(absl::Status status) {
  ended_ = true;
  if (watch_ != nullptr) watch_->Cancel();
  stream_->Finish(call_.End(std::move(status)));
}

void FitWatcher::OnWritten(bool ok) {
  if (!ok) write_failed_ = true;
  writing_ = false;
  PostPump();
}

void FitWatcher::OnCancel() { PostPump(); }

void FitWatcher::OnDone() {
  // Tasks that were posted before may still have a reference. They find that the call has ended.
  const std::shared_ptr<FitWatcher> self = std::move(self_);
}

}  // namespace fidelio
