// Client::Predict, in pieces that fit into a message, all from one revision.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/client.h"
#include "client/cpp/matrix.h"
#include "client/cpp/names.h"
#include "client/cpp/prediction.h"

namespace fidelio::client {
namespace {

// Numbers of one row of the question and its answer times rows stay below this, which is 8 MiB.
constexpr Eigen::Index kElementsPerCall = 1 << 20;

v1::PredictRequest MakeRequest(absl::string_view model, const PredictOptions& options) {
  v1::PredictRequest request;
  request.set_model(ModelName(model));
  if (!options.revision.empty()) request.set_revision(RevisionName(model, options.revision));
  request.set_min_data_version(options.min_data_version);
  *request.mutable_options() = ToWire(options);
  return request;
}

}  // namespace

absl::StatusOr<Prediction> Client::Predict(absl::string_view model, const Eigen::Ref<const Eigen::MatrixXd>& inputs,
                                           const PredictOptions& options, const CallOptions& call) {
  const absl::Time deadline = caller_.Deadline(call);
  const Eigen::Index n = inputs.rows(), d = inputs.cols();
  const Eigen::Index q = static_cast<Eigen::Index>(options.quantiles.size());
  Eigen::Index rows_per_call = std::max<Eigen::Index>(1, kElementsPerCall / std::max(d, q + 3));
  if (options.full_covariance) rows_per_call = n;  // can't be had in pieces

  v1::PredictRequest request = MakeRequest(model, options);
  Prediction prediction;
  Eigen::Index row = 0;
  do {  // at least once: it is the server that refuses an empty matrix
    const Eigen::Index rows = std::min(rows_per_call, n - row);
    *request.mutable_inputs() = ToWire(inputs.middleRows(row, rows));
    const auto response = caller_.Call(&Caller::Stub::Predict, request, deadline);
    if (!response.ok()) return response.status();
    auto part = FromWire(response->prediction(), options, rows, d);
    if (!part.ok()) return part.status();
    if (rows == n) {
      prediction = *std::move(part);
    } else {
      if (row == 0) {
        prediction.mean.resize(n);
        prediction.variance.resize(n);
        prediction.median.resize(part->median.size() == 0 ? 0 : n);
        prediction.quantiles.resize(n, q);
        if (options.input_gradient) prediction.input_gradient.resize(n, d);
      }
      prediction.mean.segment(row, rows) = part->mean;
      prediction.variance.segment(row, rows) = part->variance;
      if (part->median.size() == rows && prediction.median.size() == n) {
        prediction.median.segment(row, rows) = part->median;
      }
      std::move(part->warnings.begin(), part->warnings.end(), std::back_inserter(prediction.warnings));
      prediction.quantiles.middleRows(row, rows) = part->quantiles;
      if (options.input_gradient) prediction.input_gradient.middleRows(row, rows) = part->input_gradient;
    }
    prediction.revision = response->revision();
    prediction.data_version = response->data_version();
    request.set_revision(response->revision());
    row += rows;
  } while (row < n);
  return prediction;
}

}  // namespace fidelio::client
