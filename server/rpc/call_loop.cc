#include "server/rpc/call_loop.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "grpc/support/time.h"
#include "server/rpc/completion.h"

namespace fidelio {
namespace {

// How often the threads are looked at. A fraction of what health checks may take.
constexpr absl::Duration kTick = absl::Milliseconds(4);
// A thread that used more of a tick than this has no time for others; one that has finished nothing, neither after less.
constexpr double kBusyShare = 0.8, kStuckShare = 0.05;

int64_t CpuNanoseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Whether a thread runs, or would if a processor were free: on a crowded machine, one that has used no time may be as
// much at work as one that has. False when nobody can tell.
bool WantsProcessor(pid_t thread) {
  const int file = open(absl::StrCat("/proc/self/task/", thread, "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[128];  // "1234 (name) R 1 …"
  const ssize_t size = read(file, text, sizeof(text));
  close(file);
  const absl::string_view line(text, static_cast<size_t>(std::max<ssize_t>(size, 0)));
  const size_t state = line.rfind(')') == line.npos ? line.npos : line.rfind(')') + 2;
  return state < line.size() && line[state] == 'R';
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
  reader.id.store(gettid(), std::memory_order_relaxed);
  if (index > 0) Idle(index);
  while (true) {
    void* tag = nullptr;
    bool ok = false;
    const bool waits = waiting_.load(std::memory_order_relaxed) == index;
    // Without a deadline, which would cost a timer per call. A thread that waits although another one has taken over
    // meanwhile gets the next event, and learns of it then.
    const auto status =
        waits ? (queue_->Next(&tag, &ok) ? grpc::CompletionQueue::GOT_EVENT : grpc::CompletionQueue::SHUTDOWN)
              : queue_->AsyncNext(&tag, &ok, gpr_inf_past(GPR_CLOCK_MONOTONIC));
    if (status == grpc::CompletionQueue::SHUTDOWN) return;
    if (status == grpc::CompletionQueue::TIMEOUT) {
      Idle(index);
      continue;
    }
    reader.completing.store(true, std::memory_order_relaxed);
    Completion::Of(tag)->Complete(ok);
    reader.completing.store(false, std::memory_order_relaxed);
    reader.completions.fetch_add(1, std::memory_order_relaxed);
  }
}

CallLoop::Work CallLoop::Look(Reader& reader, absl::Duration elapsed, bool waits) {
  const int64_t completions = reader.completions.load(std::memory_order_relaxed);
  const int64_t cpu = CpuNanoseconds(reader.cpu_clock);
  const bool finished_nothing = std::exchange(reader.seen_completions, completions) == completions;
  const double share = static_cast<double>(cpu - std::exchange(reader.seen_cpu_nanoseconds, cpu)) /
                       static_cast<double>(absl::ToInt64Nanoseconds(elapsed));
  if (!finished_nothing) return share > kBusyShare ? Work::kMuch : Work::kLittle;
  const bool held_up = reader.completing.load(std::memory_order_relaxed) || share > kStuckShare ||
                       (waits && WantsProcessor(reader.id.load(std::memory_order_relaxed)));
  return held_up ? Work::kHeldUp : Work::kLittle;
}

void CallLoop::Watch() {
  absl::Time last = absl::Now();
  absl::MutexLock lock(&mutex_);
  while (!mutex_.AwaitWithTimeout(absl::Condition(&stopped_), kTick)) {
    const absl::Time now = absl::Now();
    bool all_busy = true, held_up = false;
    int next = -1;  // an idle one
    for (size_t i = 0; i < all_readers_.size(); ++i) {
      Reader& reader = *all_readers_[i];
      const bool waits = waiting_.load() == static_cast<int>(i);
      if (!reader.idle) {
        const Work work = Look(reader, now - last, waits);
        all_busy = all_busy && work != Work::kLittle;
        held_up = held_up || (waits && work == Work::kHeldUp);
      } else if (next < 0) {
        next = static_cast<int>(i);
      }
    }
    last = now;
    if (next < 0 || !(all_busy || held_up)) continue;
    Reader& reader = *all_readers_[static_cast<size_t>(next)];
    reader.idle = false;
    Look(reader, kTick, /*waits=*/false);  // what it does counts from now on
    readers_.fetch_add(1);
    waiting_.store(next);
  }
}

}  // namespace fidelio
