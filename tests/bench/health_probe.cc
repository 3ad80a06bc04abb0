#include "tests/bench/health_probe.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/byte_buffer.h"

namespace fidelio::bench {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(1);
constexpr absl::Duration kPause = absl::Milliseconds(2);
constexpr int kCallsPerConnection = 20;  // newcomers must be served, too

// grpc.health.v1.Health.Check of the whole server. Its messages are small enough to be written by hand: an empty
// request, and an answer whose first field is 1, SERVING.
bool IsServing(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + kTimeout));
  grpc::CompletionQueue queue;
  const grpc::Slice nothing;
  const grpc::ByteBuffer request(&nothing, 1);
  const auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", request, &queue);
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  grpc::Slice answer;
  return status.ok() && response.DumpToSingleSlice(&answer).ok() &&
         std::string(answer.begin(), answer.end()) == std::string("\x08\x01");
}

}  // namespace

HealthProbe::HealthProbe(const ServerProcess& server) : server_(server), thread_([this] { Loop(); }) {}

HealthProbe::~HealthProbe() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  thread_.join();
}

HealthProbe::Report HealthProbe::Take(size_t least) {
  absl::MutexLock lock(&mutex_);
  const size_t wanted = report_.latencies.size() + least;
  const auto enough = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return report_.latencies.size() >= wanted; };
  mutex_.AwaitWithTimeout(absl::Condition(&enough), absl::Minutes(1));
  return std::exchange(report_, {});
}

void HealthProbe::Loop() {
  std::shared_ptr<grpc::Channel> channel;
  for (int calls = 0;; ++calls) {
    if (calls % kCallsPerConnection == 0) channel = server_.NewChannel();
    const absl::Time start = absl::Now();
    const bool serving = IsServing(channel);
    const absl::Duration duration = absl::Now() - start;
    const ProcessUse use = ReadProcessUse(server_.pid());
    absl::MutexLock lock(&mutex_);
    report_.latencies.Add(duration);
    if (!serving) ++report_.failures;
    report_.max_threads = std::max(report_.max_threads, use.threads);
    report_.max_resident_kib = std::max(report_.max_resident_kib, use.resident_kib);
    if (mutex_.AwaitWithTimeout(absl::Condition(&stop_), kPause)) return;
  }
}

}  // namespace fidelio::bench
