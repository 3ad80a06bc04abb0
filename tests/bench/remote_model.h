// Models on a server under test: made from a data set, fitted, and asked for predictions.
#ifndef FIDELIO_TESTS_BENCH_REMOTE_MODEL_H_
#define FIDELIO_TESTS_BENCH_REMOTE_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cpp/client.h"
#include "core/base/types.h"
#include "core/data/dataset.h"
#include "fidelio/v1/emulator.grpc.pb.h"
#include "tests/process/server_process.h"

namespace fidelio::bench {

absl::StatusOr<std::unique_ptr<client::Client>> ConnectTo(const ServerProcess& server);

// Creates a model with all observations of `data`, which has the columns and levels that the model gets.
absl::Status CreateRemote(client::Client& client, const std::string& model, const Dataset& data);

// Fits it, and waits for the end. An error unless the fit succeeds.
absl::Status FitRemote(client::Client& client, const std::string& model, uint64_t seed);

// Predicts with all defaults at the rows of x.
v1::PredictRequest MakePredictRequest(const std::string& model, const Matrix& x);

// Whether an answer has exactly the bits of mean and variance.
bool SameBits(const v1::Prediction& answer, const Vector& mean, const Vector& variance);

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_REMOTE_MODEL_H_
