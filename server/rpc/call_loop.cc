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
// After so many ticks in which one reader fewer would have sufficed, one leaves.
constexpr int kQuietTicks = 50;
// How long a reader stays that has become superfluous.
constexpr absl::Duration kTurn = absl::Milliseconds(100);

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
    const auto none = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return calls_ == 0; };
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    mutex_.Await(absl::Condition(&none));
    stopped_ = true;
  }
  queue_->Shutdown();
  if (watch_.joinable()) watch_.join();
  for (const auto& reader : all_readers_) reader->thread.join();
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

int CallLoop::readers() const {
  absl::MutexLock lock(&mutex_);
  return readers_;
}

void CallLoop::Read(int index) {
  Reader& reader = *all_readers_[static_cast<size_t>(index)];
  const auto my_turn = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return index < readers_ || stopped_; };
  while (true) {
    if (index > 0) {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&my_turn));
    }
    void* tag = nullptr;
    bool ok = false;
    const auto status =
        index == 0 ? (queue_->Next(&tag, &ok) ? grpc::CompletionQueue::GOT_EVENT : grpc::CompletionQueue::SHUTDOWN)
                   : queue_->AsyncNext(&tag, &ok, absl::ToChronoTime(absl::Now() + kTurn));
    if (status == grpc::CompletionQueue::SHUTDOWN) return;
    if (status == grpc::CompletionQueue::TIMEOUT) continue;
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
  int quiet_ticks = 0;
  absl::Time last = absl::Now();
  absl::MutexLock lock(&mutex_);
  while (!mutex_.AwaitWithTimeout(absl::Condition(&stopped_), kTick)) {
    const absl::Time now = absl::Now();
    int free = 0;
    for (int i = 0; i < readers_; ++i) free += !WasBusy(*all_readers_[static_cast<size_t>(i)], now - last);
    last = now;
    quiet_ticks = free > 1 ? quiet_ticks + 1 : 0;
    if (free == 0 && readers_ < static_cast<int>(all_readers_.size())) {
      ++readers_;
    } else if (quiet_ticks >= kQuietTicks && readers_ > 1) {
      --readers_;
      quiet_ticks = 0;
    }
  }
}

}  // namespace fidelio
