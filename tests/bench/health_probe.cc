#include "tests/bench/health_probe.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "tests/bench/http2_client.h"

namespace fidelio::bench {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(1);
constexpr absl::Duration kPause = absl::Milliseconds(2);
constexpr int kCallsPerConnection = 20;  // newcomers must be served, too

// grpc.health.v1.Health.Check of the whole server, each a message with its prefix: an empty request, and an answer whose
// first field is 1, SERVING.
constexpr char kMethod[] = "/grpc.health.v1.Health/Check";
const std::string& Request() {
  static const auto* message = new std::string("\0\0\0\0\0", 5);
  return *message;
}
const std::string& Serving() {
  static const auto* message = new std::string("\0\0\0\0\2\x08\x01", 7);
  return *message;
}

absl::StatusOr<std::unique_ptr<Http2Client>> Open(int port) {
  absl::StatusOr<std::unique_ptr<Http2Client>> connection = Http2Client::Connect(port);
  if (!connection.ok()) return connection;
  const absl::Status status = (*connection)->Greet();
  if (!status.ok()) return status;
  return connection;
}

bool IsServing(Http2Client& connection, absl::Time deadline) {
  const absl::StatusOr<uint32_t> stream = connection.StartCall(kMethod, {});
  return stream.ok() && connection.SendData(*stream, Request(), deadline).ok() &&
         connection.AwaitEnd(*stream, deadline) && connection.data() == Serving();
}

}  // namespace

HealthProbe::HealthProbe(const ServerProcess& server)
    : port_(server.port()), pid_(server.pid()), thread_([this] { Loop(); }) {}

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
  std::unique_ptr<Http2Client> connection;
  for (int calls = 0;; ++calls) {
    const absl::Time start = absl::Now();
    if (connection == nullptr || calls % kCallsPerConnection == 0) {
      absl::StatusOr<std::unique_ptr<Http2Client>> opened = Open(port_);
      connection = opened.ok() ? *std::move(opened) : nullptr;
    }
    const bool serving = connection != nullptr && IsServing(*connection, start + kTimeout);
    const absl::Time now = absl::Now(), answered = serving ? connection->last_arrival() : now;
    if (!serving) connection.reset();
    const ProcessUse use = ReadProcessUse(pid_);
    absl::MutexLock lock(&mutex_);
    report_.latencies.Add(answered - start);
    if (!serving) ++report_.failures;
    report_.max_own_delay = std::max(report_.max_own_delay, now - answered);
    report_.max_threads = std::max(report_.max_threads, use.threads);
    report_.max_resident_kib = std::max(report_.max_resident_kib, use.resident_kib);
    if (mutex_.AwaitWithTimeout(absl::Condition(&stop_), kPause)) return;
  }
}

}  // namespace fidelio::bench
