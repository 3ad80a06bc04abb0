#include "server/rpc/call_loop.h"

#include <fcntl.h>
#include <grpc/support/time.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "server/rpc/completion.h"

namespace fidelio {
namespace {

// How often the threads are looked at. A fraction of what health checks may take.
constexpr absl::Duration kTick = absl::Milliseconds(4);
// A thread that used more of a tick than this has no time for others; one that has finished nothing, neither after less.
constexpr double kBusyShare = 0.9, kStuckShare = 0.05;
// After so many ticks in which no reader had time for others, one more joins them. Several readers hand connections over
// to each other, which costs small calls half of their time: a moment without luck must not be enough.
constexpr int kBusyTicks = 2;
// After so many ticks in which one reader fewer would have sufficed, one leaves.
constexpr int kQuietTicks = 25;
// How long a reader stays that has become superfluous.
constexpr absl::Duration kTurn = absl::Milliseconds(100);

// How long the first reader looks for the next call, and for how many ticks it does not after others had work to do.
constexpr int64_t kLookNanoseconds = 250'000;
constexpr int kModestTicks = 25;
// Others had work to do when the reader got less of its processor than this.
constexpr double kOwnShare = 0.9;
// Completions that come sooner belong to the call before.
constexpr int64_t kAtOnceNanoseconds = 20'000;

int64_t Nanoseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// What a small file of /proc says now.
std::string ReadFields(int file) {
  char text[128];
  const ssize_t size = pread(file, text, sizeof(text), 0);
  return std::string(text, static_cast<size_t>(std::max<ssize_t>(0, size)));
}

// Nanoseconds that a thread ran or, ready to, waited for a processor: the first two fields of its schedstat. On a machine
// with more work than processors, a thread without a free moment may still run little.
int64_t RunnableNanoseconds(int schedstat_file) {
  const std::vector<std::string> fields = absl::StrSplit(ReadFields(schedstat_file), ' ');
  int64_t ran = 0, waited = 0;
  if (fields.size() < 2 || !absl::SimpleAtoi(fields[0], &ran) || !absl::SimpleAtoi(fields[1], &waited)) return 0;
  return ran + waited;
}

// Threads of the whole machine that run or would like to: the fourth field of /proc/loadavg, before its slash.
int RunnableThreads(int load_file) {
  const std::vector<std::string> fields = absl::StrSplit(ReadFields(load_file), absl::ByAnyChar(" /"));
  int threads = 0;
  return fields.size() > 3 && absl::SimpleAtoi(fields[3], &threads) ? threads : std::numeric_limits<int>::max();
}

}  // namespace

CallLoop::CallLoop(std::unique_ptr<grpc::ServerCompletionQueue> queue)
    : queue_(std::move(queue)),
      load_file_(open("/proc/loadavg", O_RDONLY | O_CLOEXEC)),
      processors_(static_cast<int>(std::thread::hardware_concurrency())) {}

CallLoop::~CallLoop() {
  if (load_file_ >= 0) close(load_file_);
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
  for (const auto& reader : all_readers_) {
    reader->thread.join();
    close(reader->schedstat_file.load(std::memory_order_acquire));
  }
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

bool CallLoop::LookForNext(Reader& reader, bool& soon, void** tag, bool* ok) {
  const int64_t begin = Nanoseconds(CLOCK_MONOTONIC);
  if (soon && may_look_.load(std::memory_order_relaxed)) {
    int64_t looked = 0;  // without what gRPC does once it finds something
    auto status = queue_->AsyncNext(tag, ok, gpr_inf_past(GPR_CLOCK_MONOTONIC));
    while (status == grpc::CompletionQueue::TIMEOUT && looked < kLookNanoseconds) {
      looked = Nanoseconds(CLOCK_MONOTONIC) - begin;
      status = queue_->AsyncNext(tag, ok, gpr_inf_past(GPR_CLOCK_MONOTONIC));
    }
    reader.looked_nanoseconds.fetch_add(looked, std::memory_order_relaxed);
    if (status != grpc::CompletionQueue::TIMEOUT) return status == grpc::CompletionQueue::GOT_EVENT;
  }
  const bool more = queue_->Next(tag, ok);
  const int64_t waited = Nanoseconds(CLOCK_MONOTONIC) - begin;
  if (waited > kAtOnceNanoseconds) soon = waited < kLookNanoseconds;
  return more;
}

void CallLoop::Read(int index) {
  Reader& reader = *all_readers_[static_cast<size_t>(index)];
  reader.schedstat_file.store(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC), std::memory_order_release);
  bool soon = false;
  const auto my_turn = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return index < readers_ || stopped_; };
  while (true) {
    if (index > 0) {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&my_turn));
    }
    void* tag = nullptr;
    bool ok = false;
    const auto status = index == 0 ? (LookForNext(reader, soon, &tag, &ok) ? grpc::CompletionQueue::GOT_EVENT
                                                                           : grpc::CompletionQueue::SHUTDOWN)
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
  // Where there is no schedstat, what it ran must do.
  const int64_t runnable = std::max(RunnableNanoseconds(reader.schedstat_file.load(std::memory_order_acquire)),
                                    Nanoseconds(reader.cpu_clock));
  const int64_t work = runnable - reader.looked_nanoseconds.load(std::memory_order_relaxed);
  const bool finished_nothing = std::exchange(reader.seen_completions, completions) == completions;
  const double share = static_cast<double>(work - std::exchange(reader.seen_work_nanoseconds, work)) /
                       static_cast<double>(absl::ToInt64Nanoseconds(elapsed));
  if (finished_nothing) return reader.completing.load(std::memory_order_relaxed) || share > kStuckShare;
  return share > kBusyShare;
}

bool CallLoop::ProcessorsAreFree() {
  const auto since = [](int64_t now, int64_t& seen) { return static_cast<double>(now - std::exchange(seen, now)); };
  const Reader& first = *all_readers_[0];
  const double own = since(Nanoseconds(first.cpu_clock), seen_reader_nanoseconds_);
  const double looked = since(first.looked_nanoseconds.load(std::memory_order_relaxed), seen_looked_nanoseconds_);
  // This thread runs, too.
  return own >= kOwnShare * looked && RunnableThreads(load_file_) <= processors_ + 1;
}

void CallLoop::Watch() {
  int busy_ticks = 0, quiet_ticks = 0, modest_ticks = 0;
  absl::Time last = absl::Now();
  absl::MutexLock lock(&mutex_);
  while (!mutex_.AwaitWithTimeout(absl::Condition(&stopped_), kTick)) {
    const absl::Time now = absl::Now();
    int free = 0;
    for (int i = 0; i < readers_; ++i) free += !WasBusy(*all_readers_[static_cast<size_t>(i)], now - last);
    modest_ticks = ProcessorsAreFree() ? std::max(0, modest_ticks - 1) : kModestTicks;
    last = now;
    busy_ticks = free == 0 ? busy_ticks + 1 : 0;
    quiet_ticks = free > 1 ? quiet_ticks + 1 : 0;
    if (busy_ticks >= kBusyTicks && readers_ < static_cast<int>(all_readers_.size())) {
      ++readers_;
    } else if (quiet_ticks >= kQuietTicks && readers_ > 1) {
      --readers_;
      quiet_ticks = 0;
    }
    may_look_.store(readers_ == 1 && modest_ticks == 0, std::memory_order_relaxed);
  }
}

}  // namespace fidelio
