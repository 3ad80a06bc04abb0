#include "server/rpc/call_loop.h"

#include <utility>

#include "server/rpc/completion.h"

namespace fidelio {

CallLoop::~CallLoop() {
  // gRPC wants queues to be empty when they are destroyed.
  if (!shut_) queue_->Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) {
  }
}

void CallLoop::Start(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

void CallLoop::Stop() {
  if (std::exchange(shut_, true)) return;
  {
    const auto none = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return calls_ == 0; };
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    mutex_.Await(absl::Condition(&none));
  }
  queue_->Shutdown();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

bool CallLoop::Enter() {
  absl::MutexLock lock(&mutex_);
  if (stopping_) return false;
  ++calls_;
  return true;
}

void CallLoop::Leave() {
  absl::MutexLock lock(&mutex_);
  --calls_;
}

void CallLoop::Run() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) static_cast<Completion*>(tag)->Complete(ok);
}

}  // namespace fidelio
