#include "tests/bench/remote_model.h"

#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cpp/matrix.h"
#include "client/cpp/names.h"
#include "core/base/status_macros.h"

namespace fidelio::bench {
namespace {

constexpr absl::Duration kFitTimeout = absl::Minutes(10);

bool SameBits(const std::string& bytes, const Vector& values) {
  return bytes.size() == sizeof(double) * static_cast<size_t>(values.size()) &&
         std::memcmp(bytes.data(), values.data(), bytes.size()) == 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<client::Client>> ConnectTo(const ServerProcess& server) {
  client::ClientOptions options;
  options.channel.server = server.address();
  return client::Client::Connect(options);
}

absl::Status CreateRemote(client::Client& client, const std::string& model, const Dataset& data) {
  v1::Model spec;
  spec.set_input_dimension(static_cast<uint32_t>(data.dimension()));
  std::vector<client::Observations> observations;
  for (size_t level = 0; level < data.levels.size(); ++level) {
    spec.add_fidelities();
    const LevelData& part = data.levels[level];
    if (part.x.rows() == 0) continue;
    observations.push_back({.level = static_cast<int>(level),
                            .inputs = part.x,
                            .outputs = part.y,
                            .noise_variances = part.noise_variance});
  }
  FIDELIO_RETURN_IF_ERROR(client.CreateModel(model, spec).status());
  return client.AddObservations(model, observations).status();
}

absl::Status FitRemote(client::Client& client, const std::string& model, uint64_t seed) {
  v1::FitOptions options;
  options.set_seed(seed);
  FIDELIO_ASSIGN_OR_RETURN(const v1::Fit started, client.Fit(model, options));
  client::CallOptions call;
  call.timeout = kFitTimeout;
  FIDELIO_ASSIGN_OR_RETURN(const v1::Fit fit, client.WatchFit(started.name(), nullptr, call));
  if (fit.state() == v1::FIT_STATE_SUCCEEDED) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(fit.name(), ": ", v1::FitState_Name(fit.state()), ": ", fit.error().message()));
}

v1::PredictRequest MakePredictRequest(const std::string& model, const Matrix& x) {
  v1::PredictRequest request;
  request.set_model(client::ModelName(model));
  *request.mutable_inputs() = client::ToWire(x);
  return request;
}

bool SameBits(const v1::Prediction& answer, const Vector& mean, const Vector& variance) {
  return SameBits(answer.mean().f64_le(), mean) && SameBits(answer.variance().f64_le(), variance);
}

}  // namespace fidelio::bench
