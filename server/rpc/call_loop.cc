#include "server/rpc/call_loop.h"

#include <pthread.h>

#include <utility>

#include "absl/time/clock.h"
#include "grpc/grpc.h"
#include "grpc/support/time.h"
#include "grpcpp/impl/codegen/completion_queue_tag.h"
#include "server/rpc/completion.h"

namespace fidelio {
namespace {

// How often the threads are looked at; and how often when none has done anything so many times in a row. Fractions of what
// health checks may take.
constexpr absl::Duration kTick = absl::Milliseconds(1), kIdleTick = absl::Milliseconds(16);
constexpr int kTicksUntilIdle = 100;
// A thread that used more of a tick than this has no time for others; one that has finished nothing, neither after less.
constexpr double kBusyShare = 0.4, kStuckShare = 0.05;
// So many broken calls are taken before the connections are looked at.
constexpr int kBrokenInARow = 8;
// And by so many threads at once: whoever finds a flood there stays with it to its end.
constexpr int kMostLooking = 12;

int64_t CpuNanoseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// What gRPC's library does with the tag of an event before it hands it out; false when it keeps it. As in that library, the
// thread sanitizer does not look: the event was handed from thread to thread by gRPC, which it does not see.
__attribute__((no_sanitize("thread"))) bool Finalize(void** tag, bool* ok) {
  return static_cast<grpc::internal::CompletionQueueTag*>(*tag)->FinalizeResult(tag, ok);
}

}  // namespace

CallLoop::~CallLoop() {
  // gRPC wants queues to be empty when they are destroyed.
  if (!shut_) queue_->Shutdown();
  connections_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  for (grpc::CompletionQueue* const queue : {static_cast<grpc::CompletionQueue*>(queue_.get()), &connections_}) {
    while (queue->Next(&tag, &ok)) {
    }
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

CallLoop::Taken CallLoop::Take(bool wait, void** tag, bool* ok) {
  // Without a deadline, which would cost a timer per call. A thread that waits although another one has taken over
  // meanwhile gets the next event, and learns of it then.
  const gpr_timespec deadline = wait ? gpr_inf_future(GPR_CLOCK_MONOTONIC) : gpr_inf_past(GPR_CLOCK_MONOTONIC);
  const grpc_event event = grpc_completion_queue_next(queue_->cq(), deadline, /*reserved=*/nullptr);
  if (event.type == GRPC_QUEUE_SHUTDOWN) return Taken::kEnd;
  if (event.type == GRPC_QUEUE_TIMEOUT) return Taken::kNothing;
  *tag = event.tag;
  *ok = event.success != 0;
  return Finalize(tag, ok) ? Taken::kCompletion : Taken::kBrokenCall;
}

void CallLoop::LookAtConnections() {
  if (looking_.fetch_add(1, std::memory_order_relaxed) < kMostLooking) {
    void* tag = nullptr;
    bool ok = false;
    connections_.AsyncNext(&tag, &ok, gpr_inf_past(GPR_CLOCK_MONOTONIC));
  }
  looking_.fetch_sub(1, std::memory_order_relaxed);
}

void CallLoop::Read(int index) {
  Reader& reader = *all_readers_[static_cast<size_t>(index)];
  int broken = 0;  // since the connections were looked at
  while (true) {
    const auto waits = [&] { return waiting_.load(std::memory_order_relaxed) == index; };
    if (!waits() && !reader.helps.load(std::memory_order_relaxed)) Idle(index);
    void* tag = nullptr;
    bool ok = false;
    switch (Take(waits(), &tag, &ok)) {
      case Taken::kEnd:
        return;
      case Taken::kNothing:
        reader.helps.store(false, std::memory_order_relaxed);
        break;
      case Taken::kBrokenCall:
        reader.broken_calls.fetch_add(1, std::memory_order_relaxed);
        if (++broken == kBrokenInARow) {
          broken = 0;
          LookAtConnections();
        }
        break;
      case Taken::kCompletion:
        reader.completing.store(true, std::memory_order_relaxed);
        Completion::Of(tag)->Complete(ok);
        reader.completing.store(false, std::memory_order_relaxed);
        reader.completions.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

CallLoop::Work CallLoop::Look(Reader& reader, absl::Duration elapsed) {
  const int64_t completions = reader.completions.load(std::memory_order_relaxed);
  const int64_t broken_calls = reader.broken_calls.load(std::memory_order_relaxed);
  const int64_t cpu = CpuNanoseconds(reader.cpu_clock);
  const int64_t completed = completions - std::exchange(reader.seen_completions, completions);
  const int64_t broken = broken_calls - std::exchange(reader.seen_broken_calls, broken_calls);
  const int64_t used = cpu - std::exchange(reader.seen_cpu_nanoseconds, cpu);
  const double share = static_cast<double>(used) / static_cast<double>(absl::ToInt64Nanoseconds(elapsed));
  if (completed > 0 || broken > 0) {
    if (share <= kBusyShare) return Work::kLittle;
    return completed >= broken ? Work::kMuch : Work::kLittle;  // broken calls go no faster with more threads
  }
  if (reader.completing.load(std::memory_order_relaxed) || share > kStuckShare) return Work::kHeldUp;
  return used > 0 ? Work::kLittle : Work::kNone;
}

void CallLoop::Watch() {
  absl::Time last = absl::Now();
  absl::Duration tick = kTick;
  int idle_ticks = 0;  // in a row
  absl::MutexLock lock(&mutex_);
  while (!mutex_.AwaitWithTimeout(absl::Condition(&stopped_), tick)) {
    const absl::Time now = absl::Now();
    bool all_busy = true, held_up = false, none = true;
    int next = -1;  // an idle one
    for (int i = 0; i < static_cast<int>(all_readers_.size()); ++i) {
      Reader& reader = *all_readers_[static_cast<size_t>(i)];
      const bool waits = waiting_.load() == i;
      if (!reader.idle) {
        const Work work = Look(reader, now - last);
        all_busy = all_busy && (work == Work::kMuch || work == Work::kHeldUp);
        held_up = held_up || (waits && work == Work::kHeldUp);
        none = none && work == Work::kNone;
      } else if (next < 0) {
        next = i;
      }
    }
    last = now;
    idle_ticks = none ? idle_ticks + 1 : 0;
    tick = idle_ticks > kTicksUntilIdle ? kIdleTick : kTick;
    if (next < 0 || !(all_busy || held_up)) continue;
    all_readers_[static_cast<size_t>(waiting_.load())]->helps.store(!held_up, std::memory_order_relaxed);
    Reader& reader = *all_readers_[static_cast<size_t>(next)];
    reader.idle = false;
    Look(reader, kTick);  // what it does counts from now on
    readers_.fetch_add(1);
    waiting_.store(next);
  }
}

}  // namespace fidelio
