#include "tests/bench/endpoint.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "grpcpp/channel.h"

namespace fidelio::bench {
namespace {

constexpr absl::Duration kAttempt = absl::Seconds(10);
// Before the next attempt at a server that has not moved.
constexpr absl::Duration kDelay = absl::Milliseconds(50);

}  // namespace

void Endpoint::MoveTo(const std::shared_ptr<grpc::Channel>& channel) {
  std::shared_ptr<Stub> stub = v1::Emulator::NewStub(channel);
  absl::MutexLock lock(&mutex_);
  place_.stub = std::move(stub);
  ++place_.moves;
}

absl::Status Endpoint::Retry(absl::Duration patience,
                             absl::FunctionRef<absl::Status(Stub& stub, grpc::ClientContext& context)> attempt) {
  const absl::Time deadline = absl::Now() + patience;
  for (;;) {
    Place place;
    {
      absl::MutexLock lock(&mutex_);
      place = place_;
    }
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(std::min(deadline, absl::Now() + kAttempt)));
    const absl::Status status = attempt(*place.stub, context);
    if (!absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status)) return status;
    if (absl::Now() >= deadline) {
      return absl::DeadlineExceededError(
          absl::StrCat("no answer in ", absl::FormatDuration(patience), ": ", status.message()));
    }
    retries_.fetch_add(1);
    const auto moved = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return place_.moves != place.moves; };
    absl::MutexLock lock(&mutex_);
    mutex_.AwaitWithTimeout(absl::Condition(&moved), kDelay);
  }
}

}  // namespace fidelio::bench
