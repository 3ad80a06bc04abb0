#include "tests/bench/callers.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "client/cpp/errors.h"
#include "core/base/status_macros.h"
#include "grpcpp/client_context.h"

namespace fidelio::bench {
namespace {

constexpr std::chrono::seconds kCallTimeout(60);

absl::Status Call(v1::Emulator::Stub& stub, const v1::PredictRequest& request, v1::PredictResponse* response) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallTimeout);
  // Now and then an attempt to connect fails for nothing: gRPC 1.51 looks at connect's errno after other functions
  // may have changed it (grpc/grpc#35064).
  context.set_wait_for_ready(true);
  return client::ToStatus(stub.Predict(&context, request, response));
}

}  // namespace

absl::StatusOr<v1::PredictResponse> CallPredict(v1::Emulator::Stub& stub, const v1::PredictRequest& request) {
  v1::PredictResponse response;
  FIDELIO_RETURN_IF_ERROR(Call(stub, request, &response));
  return response;
}

absl::Status TimeCalls(v1::Emulator::Stub& stub, const v1::PredictRequest& request, int calls, Latencies& latencies) {
  for (int i = 0; i < calls; ++i) {
    v1::PredictResponse response;
    const absl::Time start = absl::Now();
    FIDELIO_RETURN_IF_ERROR(Call(stub, request, &response));
    latencies.Add(absl::Now() - start);
  }
  return absl::OkStatus();
}

CallerGroup::CallerGroup(const ServerProcess& server, int callers) {
  for (int i = 0; i < callers; ++i) stubs_.push_back(v1::Emulator::NewStub(server.NewChannel()));
}

absl::StatusOr<double> CallerGroup::Throughput(const v1::PredictRequest& request, absl::Duration duration) {
  struct Result {
    int64_t calls = 0;
    absl::Status status;
  };
  std::vector<Result> results(stubs_.size());
  std::vector<std::thread> threads;
  const absl::Time start = absl::Now(), end = start + duration;
  for (size_t i = 0; i < stubs_.size(); ++i) {
    threads.emplace_back([&, i] {
      Result& result = results[i];
      for (v1::PredictResponse response; result.status.ok() && absl::Now() < end; ++result.calls) {
        result.status = Call(*stubs_[i], request, &response);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
  int64_t calls = 0;
  for (const Result& result : results) {
    FIDELIO_RETURN_IF_ERROR(result.status);
    calls += result.calls;
  }
  return static_cast<double>(calls) / seconds;
}

}  // namespace fidelio::bench
