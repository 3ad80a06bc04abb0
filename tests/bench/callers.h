// Callers: Predict in a loop, timed. What `serve` does to fidelio-server and to the bare server alike.
#ifndef FIDELIO_TESTS_BENCH_CALLERS_H_
#define FIDELIO_TESTS_BENCH_CALLERS_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "fidelio/v1/emulator.grpc.pb.h"
#include "tests/bench/latencies.h"
#include "tests/process/server_process.h"

namespace fidelio::bench {

// The answer to one call.
absl::StatusOr<v1::PredictResponse> CallPredict(v1::Emulator::Stub& stub, const v1::PredictRequest& request);

// So many calls, one after the other.
absl::Status TimeCalls(v1::Emulator::Stub& stub, const v1::PredictRequest& request, int calls, Latencies& latencies);

// Callers with a connection each, which are made once and used for every measurement.
class CallerGroup {
 public:
  CallerGroup(const ServerProcess& server, int callers);

  // All of them call as fast as they can for `duration`. Answers calls per second.
  absl::StatusOr<double> Throughput(const v1::PredictRequest& request, absl::Duration duration);

 private:
  std::vector<std::unique_ptr<v1::Emulator::Stub>> stubs_;
};

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_CALLERS_H_
