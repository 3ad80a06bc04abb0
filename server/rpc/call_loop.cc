#include "server/rpc/call_loop.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "grpc/support/time.h"
#include "server/rpc/completion.h"

namespace fidelio {
namespace {

// How often the threads are looked at; and how often when none has done anything so many times in a row. Fractions of what
// health checks may take.
constexpr absl::Duration kTick = absl::Milliseconds(1), kIdleTick = absl::Milliseconds(16);
constexpr int kTicksUntilIdle = 100;
// How long a thread that helps waits for something to do.
constexpr int kHelpMilliseconds = 2;
// A thread that used more of a tick than this has no time for others; one that has finished nothing, neither after less.
constexpr double kBusyShare = 0.8, kStuckShare = 0.05;

int64_t CpuNanoseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

gpr_timespec HelpUntil() {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(kHelpMilliseconds, GPR_TIMESPAN));
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
  if (watch_.joinable()) watch_.join();
  ending_.store(true);
  queue_->Shutdown();
  for (const auto& reader : all_readers_) {
    reader->turn.release();
    reader->thread.join();
  }
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
  // Watch may have chosen this thread meanwhile, or may do so from here on: then it is its turn.
  if (!reader.idle.exchange(true)) readers_.fetch_sub(1);
  reader.turn.acquire();
}

void CallLoop::Read(int index) {
  Reader& reader = *all_readers_[static_cast<size_t>(index)];
  if (index > 0) reader.turn.acquire();
  while (!ending_.load(std::memory_order_relaxed)) {
    const bool waits = waiting_.load(std::memory_order_relaxed) == index;
    if (!waits && !reader.helps.load(std::memory_order_relaxed)) {
      Idle(index);
      continue;
    }
    void* tag = nullptr;
    bool ok = false;
    // Without a deadline, which would cost a timer per call. A thread that waits although another one has taken over
    // meanwhile gets the next event, and learns of it then.
    const auto status =
        waits ? (queue_->Next(&tag, &ok) ? grpc::CompletionQueue::GOT_EVENT : grpc::CompletionQueue::SHUTDOWN)
              : queue_->AsyncNext(&tag, &ok, HelpUntil());
    if (status == grpc::CompletionQueue::SHUTDOWN) return;
    if (status == grpc::CompletionQueue::TIMEOUT) {
      reader.helps.store(false, std::memory_order_relaxed);
      continue;
    }
    reader.completing.store(true, std::memory_order_relaxed);
    Completion::Of(tag)->Complete(ok);
    reader.completing.store(false, std::memory_order_relaxed);
    reader.completions.fetch_add(1, std::memory_order_relaxed);
  }
}

CallLoop::Work CallLoop::Look(Reader& reader, absl::Duration elapsed) {
  const int64_t completions = reader.completions.load(std::memory_order_relaxed);
  const int64_t cpu = CpuNanoseconds(reader.cpu_clock);
  const int64_t completed = completions - std::exchange(reader.seen_completions, completions);
  const int64_t used = cpu - std::exchange(reader.seen_cpu_nanoseconds, cpu);
  const double share = static_cast<double>(used) / static_cast<double>(absl::ToInt64Nanoseconds(elapsed));
  if (completed > 0) return share > kBusyShare ? Work::kMuch : Work::kLittle;
  if (reader.completing.load(std::memory_order_relaxed) || share > kStuckShare) return Work::kHeldUp;
  return used > 0 ? Work::kLittle : Work::kNone;
}

void CallLoop::Watch() {
  absl::Time last = absl::Now();
  absl::Duration tick = kTick;
  int idle_ticks = 0;  // in a row
  const int processors = std::max(2, static_cast<int>(std::thread::hardware_concurrency()));
  while (!AwaitStopped(tick)) {
    const absl::Time now = absl::Now();
    const int waiting = waiting_.load();
    int busy = 0;
    bool all_busy = true, held_up = false, none = true;
    int next = -1;  // an idle one
    for (int i = 0; i < static_cast<int>(all_readers_.size()); ++i) {
      Reader& reader = *all_readers_[static_cast<size_t>(i)];
      if (reader.idle.load()) {
        if (next < 0) next = i;
        continue;
      }
      const Work work = Look(reader, now - last);
      busy += work == Work::kMuch ? 1 : 0;
      all_busy = all_busy && (work == Work::kMuch || work == Work::kHeldUp);
      held_up = held_up || (waiting == i && work == Work::kHeldUp);
      none = none && work == Work::kNone;
    }
    last = now;
    idle_ticks = none ? idle_ticks + 1 : 0;
    const bool wanted = held_up || (all_busy && busy < processors);
    tick = idle_ticks > kTicksUntilIdle ? kIdleTick : kTick;
    if (next < 0 || !wanted) continue;
    all_readers_[static_cast<size_t>(waiting)]->helps.store(!held_up, std::memory_order_relaxed);
    Reader& reader = *all_readers_[static_cast<size_t>(next)];
    Look(reader, kTick);  // what it does counts from now on
    reader.idle.store(false);
    readers_.fetch_add(1);
    waiting_.store(next);
    reader.turn.release();
  }
}

bool CallLoop::AwaitStopped(absl::Duration timeout) {
  absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithTimeout(absl::Condition(&stopped_), timeout);
}

}  // namespace fidelio
