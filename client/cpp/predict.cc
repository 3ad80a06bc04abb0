// Client::Predict: in pieces that fit into a message, all from one revision.
#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "client/cpp/client.h"
#include "client/cpp/matrix.h"
#include "client/cpp/names.h"

namespace fidelio::client {
namespace {

// Numbers of one row of the question and its answer times rows stay below this, which is 8 MiB.
constexpr Eigen::Index kElementsPerCall = 1 << 20;

v1::PredictRequest MakeRequest(absl::string_view model, const PredictOptions& options) {
  v1::PredictRequest request;
  request.set_model(ModelName(model));
  if (!options.revision.empty()) request.set_revision(RevisionName(model, options.revision));
  request.set_min_data_version(options.min_data_version);
  v1::PredictOptions* wire = request.mutable_options();
  if (options.level.has_value()) wire->set_level(static_cast<uint32_t>(*options.level));
  wire->set_include_noise(options.include_noise);
  wire->mutable_quantiles()->Add(options.quantiles.begin(), options.quantiles.end());
  wire->set_full_covariance(options.full_covariance);
  wire->set_input_gradient(options.input_gradient);
  return request;
}

// Writes a part of an answer below the parts before it; `all` has its rows already.
absl::Status Put(const v1::Matrix& wire, const char* field, Eigen::Index row, Eigen::Index rows, Eigen::Index cols,
                 Eigen::MatrixXd* all) {
  const auto part = FromWire(wire, field);
  if (!part.ok()) return part.status();
  if (part->rows() != rows || part->cols() != cols) {
    return absl::InternalError(absl::StrCat("the server answered ", field, " of ", part->rows(), " × ", part->cols(),
                                            ", but ", rows, " × ", cols, " were asked for"));
  }
  all->middleRows(row, rows) = *part;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Prediction> Client::Predict(absl::string_view model, const Eigen::Ref<const Eigen::MatrixXd>& inputs,
                                           const PredictOptions& options, const CallOptions& call) {
  const absl::Time deadline = caller_.Deadline(call);
  const Eigen::Index n = inputs.rows(), d = inputs.cols();
  const Eigen::Index q = static_cast<Eigen::Index>(options.quantiles.size());
  Eigen::Index rows_per_call = std::max<Eigen::Index>(1, kElementsPerCall / std::max(d, q + 2));
  if (options.full_covariance) rows_per_call = n;  // can't be had in pieces

  v1::PredictRequest request = MakeRequest(model, options);
  Prediction prediction;
  Eigen::MatrixXd mean(n, 1), variance(n, 1);
  prediction.quantiles.resize(n, q);
  if (options.full_covariance) prediction.covariance.resize(n, n);
  if (options.input_gradient) prediction.input_gradient.resize(n, d);

  Eigen::Index row = 0;
  do {  // at least once: it is the server that refuses an empty matrix
    const Eigen::Index rows = std::min(rows_per_call, n - row);
    *request.mutable_inputs() = ToWire(inputs.middleRows(row, rows));
    const auto response = caller_.Call(&Caller::Stub::Predict, request, deadline);
    if (!response.ok()) return response.status();
    const v1::Prediction& part = response->prediction();
    absl::Status status = Put(part.mean(), "mean", row, rows, 1, &mean);
    status.Update(Put(part.variance(), "variance", row, rows, 1, &variance));
    if (q > 0) status.Update(Put(part.quantiles(), "quantiles", row, rows, q, &prediction.quantiles));
    if (options.full_covariance) status.Update(Put(part.covariance(), "covariance", 0, n, n, &prediction.covariance));
    if (options.input_gradient) {
      status.Update(Put(part.input_gradient(), "input_gradient", row, rows, d, &prediction.input_gradient));
    }
    if (!status.ok()) return status;
    prediction.revision = response->revision();
    prediction.data_version = response->data_version();
    request.set_revision(response->revision());
    row += rows;
  } while (row < n);
  prediction.mean = mean;
  prediction.variance = variance;
  return prediction;
}

}  // namespace fidelio::client
