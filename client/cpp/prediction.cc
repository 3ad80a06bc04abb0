#include "client/cpp/prediction.h"

#include "absl/strings/str_cat.h"
#include "client/cpp/matrix.h"

namespace fidelio::client {
namespace {

absl::Status Get(const v1::Matrix& wire, const char* field, Eigen::Index rows, Eigen::Index cols,
                 Eigen::MatrixXd* matrix) {
  auto part = FromWire(wire, field);
  if (!part.ok()) return part.status();
  if (part->rows() != rows || part->cols() != cols) {
    return absl::InternalError(absl::StrCat("the server returned ", field, " of ", part->rows(), " × ", part->cols(),
                                            ", but ", rows, " × ", cols, " were requested"));
  }
  *matrix = *std::move(part);
  return absl::OkStatus();
}

}  // namespace

v1::PredictOptions ToWire(const PredictOptions& options) {
  v1::PredictOptions wire;
  if (options.level.has_value()) wire.set_level(static_cast<uint32_t>(*options.level));
  wire.set_include_noise(options.include_noise);
  wire.mutable_quantiles()->Add(options.quantiles.begin(), options.quantiles.end());
  wire.set_full_covariance(options.full_covariance);
  wire.set_input_gradient(options.input_gradient);
  return wire;
}

absl::StatusOr<Prediction> FromWire(const v1::Prediction& wire, const PredictOptions& options, Eigen::Index n,
                                    Eigen::Index d) {
  const Eigen::Index q = static_cast<Eigen::Index>(options.quantiles.size());
  Prediction prediction;
  Eigen::MatrixXd mean, variance, median;
  absl::Status status = Get(wire.mean(), "mean", n, 1, &mean);
  status.Update(Get(wire.variance(), "variance", n, 1, &variance));
  if (wire.has_median()) status.Update(Get(wire.median(), "median", n, 1, &median));
  prediction.quantiles.resize(n, 0);
  if (q > 0) status.Update(Get(wire.quantiles(), "quantiles", n, q, &prediction.quantiles));
  if (options.full_covariance) status.Update(Get(wire.covariance(), "covariance", n, n, &prediction.covariance));
  if (options.input_gradient) {
    status.Update(Get(wire.input_gradient(), "input_gradient", n, d, &prediction.input_gradient));
  }
  if (!status.ok()) return status;
  prediction.mean = mean;
  prediction.variance = variance;
  if (wire.has_median()) prediction.median = median;
  prediction.warnings.assign(wire.warnings().begin(), wire.warnings().end());
  return prediction;
}

}  // namespace fidelio::client
