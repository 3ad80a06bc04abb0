#include "server/rpc/predictor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/status_macros.h"
#include "server/rpc/matrix.h"
#include "server/rpc/names.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

// A multiple of the block in which core works, so that pieces change no bit of the answer.
constexpr Eigen::Index kPiece = 256;
constexpr int kMaxQuantiles = 64;
constexpr int64_t kDouble = sizeof(double);
// What a message holds besides its doubles: names, shapes and tags.
constexpr int64_t kMessageOverhead = 4096;
// Predictions of more points take their time; what is known of one point says too much of them.
constexpr int64_t kFewPoints = 16;
constexpr absl::Duration kQuick = absl::Microseconds(500);

}  // namespace

absl::Status CheckInputs(const v1::Matrix& inputs, const LoadedRevision& revision, const ServiceLimits& limits) {
  if (inputs.rows() > limits.max_inputs) {
    return absl::InvalidArgumentError(absl::StrCat("inputs: ", inputs.rows(), " points, but at most ",
                                                   limits.max_inputs,
                                                   " are allowed; PredictStream accepts any number"));
  }
  if (inputs.rows() > 0 && inputs.cols() != static_cast<uint32_t>(revision.input_dimension())) {
    return absl::InvalidArgumentError(absl::StrCat("inputs: ", inputs.cols(), " columns, but model ",
                                                   Quoted(revision.model()), " has input dimension ",
                                                   revision.input_dimension()));
  }
  return absl::OkStatus();
}

absl::Status CheckAnswer(int64_t doubles, absl::string_view what, const ServiceLimits& limits) {
  if (doubles <= (limits.max_message_bytes - kMessageOverhead) / kDouble) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("inputs: the response (", what, ") would take ", doubles * kDouble,
                                                 " bytes, but a message has at most ", limits.max_message_bytes,
                                                 "; ask for fewer points at a time"));
}

absl::Status CheckPredictOptions(const v1::PredictOptions& options, absl::string_view field) {
  if (options.quantiles_size() > kMaxQuantiles) {
    return absl::InvalidArgumentError(absl::StrCat(field, ".quantiles: ", options.quantiles_size(),
                                                   " probabilities, but at most ", kMaxQuantiles, " are allowed"));
  }
  for (int i = 0; i < options.quantiles_size(); ++i) {
    const double p = options.quantiles(i);
    if (!(p > 0 && p < 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, ".quantiles[", i, "]: ", p, ", but must be above 0 and below 1"));
    }
  }
  return absl::OkStatus();
}

bool IsQuick(const v1::PredictRequest& request, const LoadedRevision& revision) {
  const int64_t n = request.inputs().rows();
  if (n > kFewPoints || request.options().full_covariance() || request.options().input_gradient()) return false;
  return n == 0 || n * revision.PointTime() <= kQuick;
}

absl::StatusOr<Predictor> Predictor::Create(std::shared_ptr<const LoadedRevision> revision,
                                            const v1::PredictOptions& options, absl::string_view field,
                                            const ServiceLimits& limits, MemoryBudget* memory) {
  FIDELIO_RETURN_IF_ERROR(CheckPredictOptions(options, field));
  Predictor predictor;
  std::optional<int64_t> level;
  if (options.has_level()) level = options.level();
  FIDELIO_ASSIGN_OR_RETURN(predictor.options_.level, revision->EmulatorLevel(level, absl::StrCat(field, ".level")));
  predictor.options_.include_noise = options.include_noise();
  predictor.options_.quantiles.assign(options.quantiles().begin(), options.quantiles().end());
  predictor.options_.input_gradient = options.input_gradient();
  predictor.full_covariance_ = options.full_covariance();
  predictor.revision_ = std::move(revision);
  predictor.field_ = std::string(field);
  predictor.limits_ = &limits;
  predictor.memory_ = memory;
  return predictor;
}

std::string Predictor::revision_name() const { return RevisionName(revision_->model(), revision_->revision()); }

absl::StatusOr<Prediction> Predictor::PredictInPieces(const Call& call, const Matrix& x) const {
  if (x.rows() <= kPiece) return revision_->emulator().Predict(x, options_);
  Prediction all;
  all.mean.resize(x.rows());
  all.variance.resize(x.rows());
  all.median.resize(x.rows());
  all.mean_cdf.resize(x.rows());
  all.quantiles.resize(x.rows(), static_cast<Eigen::Index>(options_.quantiles.size()));
  if (options_.input_gradient) all.input_gradient.resize(x.rows(), x.cols());
  for (Eigen::Index begin = 0; begin < x.rows(); begin += kPiece) {
    FIDELIO_RETURN_IF_ERROR(call.StopReason());
    const Eigen::Index size = std::min(kPiece, x.rows() - begin);
    FIDELIO_ASSIGN_OR_RETURN(const Prediction piece,
                             revision_->emulator().Predict(x.middleRows(begin, size), options_));
    all.mean.segment(begin, size) = piece.mean;
    all.variance.segment(begin, size) = piece.variance;
    all.median.segment(begin, size) = piece.median;
    all.mean_cdf.segment(begin, size) = piece.mean_cdf;
    if (piece.quantiles.cols() > 0) all.quantiles.middleRows(begin, size) = piece.quantiles;
    if (options_.input_gradient) all.input_gradient.middleRows(begin, size) = piece.input_gradient;
  }
  return all;
}

absl::Status Predictor::Predict(const Call& call, const v1::Matrix& inputs, v1::Prediction* answer) const {
  FIDELIO_RETURN_IF_ERROR(CheckInputs(inputs, *revision_, *limits_));
  const int64_t n = inputs.rows(), d = inputs.cols();
  if (full_covariance_ && n > limits_->max_covariance_points) {
    return absl::InvalidArgumentError(absl::StrCat("inputs: ", n, " points, but at most ",
                                                   limits_->max_covariance_points, " are allowed with ", field_,
                                                   ".full_covariance"));
  }
  const int64_t columns = 3 + static_cast<int64_t>(options_.quantiles.size()) + (options_.input_gradient ? d : 0) +
                          (full_covariance_ ? n : 0);
  FIDELIO_RETURN_IF_ERROR(
      CheckAnswer(n * columns, absl::StrCat(n, " points with ", columns, " numbers each"), *limits_));
  // Inputs on the wire and decoded, the answer computed and on the wire; a joint posterior needs a few n×n more.
  FIDELIO_ASSIGN_OR_RETURN(const auto memory,
                           memory_->Reserve(kDouble * n * (2 * d + 2 * columns + (full_covariance_ ? 4 * n : 0))));
  FIDELIO_ASSIGN_OR_RETURN(const Matrix x, DecodeMatrix(inputs, "inputs", limits_->max_matrix_elements));
  FIDELIO_RETURN_IF_ERROR(call.StopReason());
  const absl::Time start = absl::Now();
  FIDELIO_ASSIGN_OR_RETURN(Prediction prediction, PredictInPieces(call, x));
  if (n >= 1 && n <= kFewPoints && !options_.input_gradient) revision_->RecordPointTime((absl::Now() - start) / n);

  const v1::MatrixEncoding encoding = EncodingOf(inputs);
  if (full_covariance_) {
    PredictOptions joint_options = options_;
    joint_options.check = [&call] { return call.StopReason(); };
    FIDELIO_ASSIGN_OR_RETURN(JointPosterior joint, revision_->emulator().JointMoments(x, joint_options));
    joint.covariance.diagonal() = prediction.variance;  // what the contract says, to the last bit
    EncodeMatrix(joint.covariance, encoding, answer->mutable_covariance());
  }
  EncodeMatrix(prediction.mean, encoding, answer->mutable_mean());
  EncodeMatrix(prediction.variance, encoding, answer->mutable_variance());
  EncodeMatrix(prediction.median, encoding, answer->mutable_median());
  for (std::string& text : PredictionWarnings(prediction)) answer->add_warnings(std::move(text));
  if (!options_.quantiles.empty()) EncodeMatrix(prediction.quantiles, encoding, answer->mutable_quantiles());
  if (options_.input_gradient) EncodeMatrix(prediction.input_gradient, encoding, answer->mutable_input_gradient());
  return absl::OkStatus();
}

}  // namespace fidelio
