#include "server/rpc/call_loop.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "server/rpc/completion.h"

namespace fidelio {
namespace {

// How often the threads are looked at. A fraction of what health checks may take.
constexpr absl::Duration kTick = absl::Milliseconds(4);
// A thread that used more of a tick than this has no time for others; one that has finished nothing, neither after less.
constexpr double kBusyShare = 0.8, kStuckShare = 0.05;
// For how long a thread waits in gRPC that does not know yet that another one has taken over.
constexpr absl::Duration kTurn = absl::Milliseconds(20);

int64_t CpuNanoseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

CallLoop::~CallLoop() {
  // gRPC wants queues to be empty when they are destroyed.
  if (!shut_) queue_->Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) {
  }
}

void CallLoop::Start(int max_threads) {
  for (int i = 0; i < max_threads; ++i) all_readers_.push_back(std::make_unique<Reader>());
  all_readers_[0]->idle = false;  // the one that waits
  for (int i = 0; i < max_threads; ++i) {
    Reader& reader = *all_readers_[static_cast<size_t>(i)];
    reader.thread = std::thread([this, i] { Read(i); });
    pthread_getcpuclockid(reader.thread.native_handle(), &reader.cpu_clock);
  }
  watch_ = std::thread([this] { Watch(); });
}

void CallLoop::Stop() {
  if (std::exchange(shut_, true)) return;
  {
    const auto none = [this] { return calls_.load() == 0; };
    stopping_.store(true);
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&none));
    stopped_ = true;
  }
  queue_->Shutdown();
  if (watch_.joinable()) watch_.join();
  for (const auto& reader : all_readers_) reader->thread.join();
}

bool CallLoop::Enter() {
  // In this order, and Stop in the other: either Stop sees the call, or the call sees that it comes too late.
  calls_.fetch_add(1);
  if (!stopping_.load()) return true;
  Leave();
  return false;
}

void CallLoop::Leave() {
  // The last one makes Stop look, which waits for the lock to be released.
  if (calls_.fetch_sub(1) == 1 && stopping_.load()) {
    const absl::MutexLock lock(&mutex_);
  }
}

void CallLoop::Idle(int index) {
  Reader& reader = *all_readers_[static_cast<size_t>(index)];
  const auto wanted = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return waiting_ == index || stopped_; };
  absl::MutexLock lock(&mutex_);
  if (waiting_ != index && !std::exchange(reader.idle, true)) readers_.fetch_sub(1);
  mutex_.Await(absl::Condition(&wanted));
}

void CallLoop::Read(int index) {
  Reader& reader = *all_readers_[static_cast<size_t>(index)];
  if (index > 0) Idle(index);
  while (true) {
    void* tag = nullptr;
    bool ok = false;
    const bool waits = waiting_.load(std::memory_order_relaxed) == index;
    const auto status =
        queue_->AsyncNext(&tag, &ok, absl::ToChronoTime(waits ? absl::Now() + kTurn : absl::UnixEpoch()));
    if (status == grpc::CompletionQueue::SHUTDOWN) return;
    if (status == grpc::CompletionQueue::TIMEOUT) {
      if (!waits) Idle(index);
      continue;
    }
    reader.completing.store(true, std::memory_order_relaxed);
    Completion::Of(tag)->Complete(ok);
    reader.completing.store(false, std::memory_order_relaxed);
    reader.completions.fetch_add(1, std::memory_order_relaxed);
  }
}

bool CallLoop::WasBusy(Reader& reader, absl::Duration elapsed) {
  const int64_t completions = reader.completions.load(std::memory_order_relaxed);
  const int64_t cpu = CpuNanoseconds(reader.cpu_clock);
  const bool finished_nothing = std::exchange(reader.seen_completions, completions) == completions;
  const double share = static_cast<double>(cpu - std::exchange(reader.seen_cpu_nanoseconds, cpu)) /
                       static_cast<double>(absl::ToInt64Nanoseconds(elapsed));
  if (finished_nothing) return reader.completing.load(std::memory_order_relaxed) || share > kStuckShare;
  return share > kBusyShare;
}

void CallLoop::Watch() {
  absl::Time last = absl::Now();
  absl::MutexLock lock(&mutex_);
  while (!mutex_.AwaitWithTimeout(absl::Condition(&stopped_), kTick)) {
    const absl::Time now = absl::Now();
    bool all_busy = true;
    int next = -1;  // an idle one
    for (size_t i = 0; i < all_readers_.size(); ++i) {
      Reader& reader = *all_readers_[i];
      if (!reader.idle) {
        all_busy = WasBusy(reader, now - last) && all_busy;
      } else if (next < 0) {
        next = static_cast<int>(i);
      }
    }
    last = now;
    if (!all_busy || next < 0) continue;
    Reader& reader = *all_readers_[static_cast<size_t>(next)];
    reader.idle = false;
    WasBusy(reader, kTick);  // from now on
    readers_.fetch_add(1);
    waiting_.store(next);
  }
}

}  // namespace fidelio
