// Client::SampleDpp, Suggest and Diagnose.
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/client.h"
#include "client/cpp/matrix.h"
#include "client/cpp/names.h"

namespace fidelio::client {
namespace {

// What all three requests, and all three answers, have.
template <typename Options, typename Request>
void SetRevision(absl::string_view model, const Options& options, Request* request) {
  request->set_model(ModelName(model));
  if (!options.revision.empty()) request->set_revision(RevisionName(model, options.revision));
  request->set_min_data_version(options.min_data_version);
}

template <typename Options, typename Request>
void SetSource(const Options& options, Request* request) {
  if (options.candidates.size() > 0) {
    *request->mutable_candidates() = ToWire(options.candidates);
  } else if (options.candidate_count != 0) {
    request->set_candidate_count(static_cast<uint32_t>(options.candidate_count));
  }
}

template <typename Response, typename Answer>
void CopyRevision(const Response& response, Answer* answer) {
  answer->revision = response.revision();
  answer->data_version = response.data_version();
}

absl::Status WrongShape(absl::string_view field, const Eigen::MatrixXd& matrix) {
  return absl::InternalError(absl::StrCat("the server returned ", field, " of ", matrix.rows(), " × ", matrix.cols(),
                                          ", which is not its shape"));
}

// One number per observation, where there are any.
absl::Status GetColumn(bool present, const v1::Matrix& wire, absl::string_view field, int64_t count,
                       Eigen::VectorXd* column) {
  if (!present) return absl::OkStatus();
  const auto matrix = FromWire(wire, field);
  if (!matrix.ok()) return matrix.status();
  if (matrix->rows() != count || matrix->cols() != 1) return WrongShape(field, *matrix);
  *column = *matrix;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DppDesign> Client::SampleDpp(absl::string_view model, const DppOptions& options,
                                            const CallOptions& call) {
  v1::SampleDPPRequest request;
  SetRevision(model, options, &request);
  SetSource(options, &request);
  request.set_k(static_cast<uint32_t>(options.k));
  request.set_method(options.method);
  request.set_quality_mode(options.quality_mode);
  if (options.quality.size() > 0) *request.mutable_quality() = ToWire(options.quality);
  if (options.level.has_value()) request.set_level(static_cast<uint32_t>(*options.level));
  request.set_exclude_observed(options.exclude_observed);
  request.set_seed(options.seed);
  const auto response = caller_.Call(&Caller::Stub::SampleDPP, request, caller_.Deadline(call));
  if (!response.ok()) return response.status();

  DppDesign design;
  auto inputs = FromWire(response->inputs(), "inputs");
  if (!inputs.ok()) return inputs.status();
  const auto quality = FromWire(response->quality(), "quality");
  if (!quality.ok()) return quality.status();
  if (inputs->rows() != response->indices_size()) return WrongShape("inputs", *inputs);
  if (quality->rows() != inputs->rows() || quality->cols() != 1) return WrongShape("quality", *quality);
  design.inputs = *std::move(inputs);
  design.quality = *quality;
  design.indices.assign(response->indices().begin(), response->indices().end());
  design.log_determinant = response->log_determinant();
  design.variance_before = response->variance_before();
  design.variance_after = response->variance_after();
  CopyRevision(*response, &design);
  return design;
}

absl::StatusOr<Suggestions> Client::Suggest(absl::string_view model, const SuggestOptions& options,
                                            const CallOptions& call) {
  v1::SuggestRequest request;
  SetRevision(model, options, &request);
  SetSource(options, &request);
  request.set_count(static_cast<uint32_t>(options.count));
  request.set_criterion(options.criterion);
  if (options.maximise) request.set_direction(v1::SUGGEST_DIRECTION_MAXIMISE);
  if (options.width.has_value()) request.set_width(*options.width);
  if (options.budget.has_value()) request.set_budget(*options.budget);
  for (const int level : options.levels) request.add_levels(static_cast<uint32_t>(level));
  request.set_target_count(static_cast<uint32_t>(options.target_count));
  request.set_seed(options.seed);
  const auto response = caller_.Call(&Caller::Stub::Suggest, request, caller_.Deadline(call));
  if (!response.ok()) return response.status();

  Suggestions answer;
  for (const v1::Suggestion& wire : response->suggestions()) {
    answer.runs.push_back({.input = Eigen::Map<const Eigen::VectorXd>(wire.input().data(), wire.input_size()),
                           .level = static_cast<int>(wire.level()),
                           .fidelity = wire.fidelity(),
                           .cost = wire.cost(),
                           .value = wire.value(),
                           .candidate = static_cast<int>(wire.candidate())});
  }
  answer.variance_before = response->variance_before();
  answer.variance_after = response->variance_after();
  answer.total_cost = response->total_cost();
  answer.shortfall_reason = response->shortfall_reason();
  CopyRevision(*response, &answer);
  return answer;
}

absl::StatusOr<Diagnostics> Client::Diagnose(absl::string_view model, const DiagnoseOptions& options,
                                             const CallOptions& call) {
  v1::DiagnoseRequest request;
  SetRevision(model, options, &request);
  const auto response = caller_.Call(&Caller::Stub::Diagnose, request, caller_.Deadline(call));
  if (!response.ok()) return response.status();

  Diagnostics answer;
  for (const v1::FidelityDiagnostics& wire : response->fidelities()) {
    FidelityDiagnostics fidelity{.level = static_cast<int>(wire.level()),
                                 .fidelity = wire.fidelity(),
                                 .count = wire.count(),
                                 .distinct_count = wire.distinct_count(),
                                 .r2 = wire.r2(),
                                 .rmse = wire.rmse(),
                                 .coverage50 = wire.coverage50(),
                                 .coverage90 = wire.coverage90(),
                                 .coverage95 = wire.coverage95(),
                                 .mean_log_density = wire.mean_log_density(),
                                 .inflation = wire.inflation(),
                                 .median_rmse = wire.median_rmse()};
    absl::Status status =
        GetColumn(wire.has_residuals(), wire.residuals(), "residuals", wire.count(), &fidelity.residuals);
    status.Update(GetColumn(wire.has_mean(), wire.mean(), "mean", wire.count(), &fidelity.mean));
    status.Update(GetColumn(wire.has_variance(), wire.variance(), "variance", wire.count(), &fidelity.variance));
    status.Update(GetColumn(wire.has_cdf(), wire.cdf(), "cdf", wire.count(), &fidelity.cdf));
    status.Update(GetColumn(wire.has_median(), wire.median(), "median", wire.count(), &fidelity.median));
    if (!status.ok()) return status;
    answer.fidelities.push_back(std::move(fidelity));
  }
  if (response->has_verdict()) answer.verdict = response->verdict();
  answer.withdrawn_count = response->withdrawn_count();
  CopyRevision(*response, &answer);
  return answer;
}

}  // namespace fidelio::client
