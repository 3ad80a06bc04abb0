#include "core/emulator/transformed_emulator.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/base/bytes.h"
#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/emulator/query_check.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr uint32_t kVersion = 1;  // of sealed bytes (core/base/bytes.h)
constexpr Index kBlock = 64;      // query points that one thread works on at a time

// Mean and variance at the rows of x, each at a level of its own.
absl::StatusOr<Prediction> PredictByLevel(const Emulator& model, const Matrix& x, const std::vector<int>& levels,
                                          const PredictOptions& options) {
  Prediction all;
  all.mean.resize(x.rows());
  all.variance.resize(x.rows());
  for (int level = 0; level < model.levels(); ++level) {
    std::vector<int> rows;
    for (size_t i = 0; i < levels.size(); ++i) {
      if (levels[i] == level) rows.push_back(static_cast<int>(i));
    }
    if (rows.empty()) continue;
    FIDELIO_ASSIGN_OR_RETURN(
        const Prediction own,
        model.Predict(x(rows, Eigen::all),
                      {.level = level, .include_noise = options.include_noise, .threads = options.threads}));
    all.mean(rows) = own.mean;
    all.variance(rows) = own.variance;
  }
  return all;
}

// h of functions of z.
class TransformedPaths final : public PathSamples {
 public:
  TransformedPaths(const OutputTransform& transform, std::unique_ptr<PathSamples> base)
      : transform_(transform), base_(std::move(base)) {}

  absl::StatusOr<Matrix> Evaluate(const Matrix& x) const override {
    FIDELIO_ASSIGN_OR_RETURN(Matrix paths, base_->Evaluate(x));
    for (double& value : paths.reshaped()) value = transform_.Backward(value);
    return paths;
  }

 private:
  const OutputTransform transform_;
  const std::unique_ptr<PathSamples> base_;
};

}  // namespace

TransformedEmulator::TransformedEmulator(const OutputTransform& transform, std::unique_ptr<const MixtureEmulator> base)
    : transform_(transform), base_(std::move(base)) {}

absl::StatusOr<Prediction> TransformedEmulator::Predict(const Matrix& x, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  FIDELIO_RETURN_IF_ERROR(CheckQuantiles(options.quantiles));
  Prediction result;
  result.mean.resize(x.rows());
  result.variance.resize(x.rows());
  result.quantiles.resize(x.rows(), static_cast<Index>(options.quantiles.size()));
  if (options.input_gradient) result.input_gradient.resize(x.rows(), x.cols());
  PredictOptions block_options{.level = options.level, .include_noise = options.include_noise};
  const int blocks = static_cast<int>((x.rows() + kBlock - 1) / kBlock);
  std::vector<absl::Status> statuses(blocks);
  const auto predict = [&](int b) -> absl::Status {
    const Index begin = b * kBlock, n = std::min(kBlock, x.rows() - begin);
    const Matrix at = x.middleRows(begin, n);
    FIDELIO_ASSIGN_OR_RETURN(const Mixture z, base_->PredictMixture(at, block_options));
    Mixture y{.weight = z.weight, .mean = z.mean, .variance = z.variance};
    Matrix mean_bar(z.mean.rows(), n), variance_bar(z.mean.rows(), n);
    for (Index i = 0; i < n; ++i) {
      for (Index s = 0; s < z.weight.size(); ++s) {
        const TransformedMoments moments = transform_.Moments(z.mean(s, i), z.variance(s, i));
        y.mean(s, i) = moments.mean;
        y.variance(s, i) = moments.variance;
        mean_bar(s, i) = z.weight[s] * moments.mean_bar;
        variance_bar(s, i) = z.weight[s] * moments.variance_bar;
      }
    }
    const Vector mean = MixtureMean(y);
    result.mean.segment(begin, n) = mean;
    result.variance.segment(begin, n) = MixtureVariance(y, mean);
    if (!options.quantiles.empty()) {
      result.quantiles.middleRows(begin, n) =
          MixtureQuantiles(z, options.quantiles).unaryExpr([&](double q) { return transform_.Backward(q); });
    }
    if (options.input_gradient) {
      FIDELIO_ASSIGN_OR_RETURN(result.input_gradient.middleRows(begin, n),
                               base_->MixtureGradient(at, mean_bar, variance_bar, block_options));
    }
    return absl::OkStatus();
  };
  ParallelFor(blocks, options.threads, [&](int b) { statuses[b] = predict(b); });
  for (const absl::Status& status : statuses) FIDELIO_RETURN_IF_ERROR(status);
  return result;
}

absl::StatusOr<Vector> TransformedEmulator::LogDensity(const Matrix& x, const Vector& y,
                                                       const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckOutputs(x, y));
  Vector z(y.size()), log_slope(y.size());
  for (Index i = 0; i < y.size(); ++i) {
    FIDELIO_RETURN_IF_ERROR(transform_.Check(y[i], absl::StrFormat("y[%d]", i)));
    z[i] = transform_.Forward(y[i]);
    log_slope[i] = std::log(transform_.Slope(y[i]));
  }
  FIDELIO_ASSIGN_OR_RETURN(Vector density, base_->LogDensity(x, z, options));
  density += log_slope;
  return density;
}

absl::StatusOr<JointPosterior> TransformedEmulator::JointMomentsAt(const Matrix& x, const std::vector<int>& levels,
                                                                   const PredictOptions& options) const {
  FIDELIO_ASSIGN_OR_RETURN(JointPosterior joint, base_->JointMomentsAt(x, levels, options));
  FIDELIO_ASSIGN_OR_RETURN(const Prediction own, PredictByLevel(*this, x, levels, options));
  const Vector factor = own.variance.cwiseQuotient(joint.covariance.diagonal()).cwiseSqrt();
  joint.mean = own.mean;
  joint.covariance = factor.asDiagonal() * joint.covariance * factor.asDiagonal();
  joint.covariance.diagonal() = own.variance;
  return joint;
}

absl::StatusOr<Matrix> TransformedEmulator::JointColumnsAt(const Matrix& x, const std::vector<int>& levels,
                                                           const std::vector<int>& columns,
                                                           const PredictOptions& options) const {
  FIDELIO_ASSIGN_OR_RETURN(const Matrix base, base_->JointColumnsAt(x, levels, columns, options));
  FIDELIO_ASSIGN_OR_RETURN(const Prediction own, PredictByLevel(*this, x, levels, options));
  FIDELIO_ASSIGN_OR_RETURN(const Prediction of_base, PredictByLevel(*base_, x, levels, options));
  const Vector factor = own.variance.cwiseQuotient(of_base.variance).cwiseSqrt();
  return Matrix(factor.asDiagonal() * base * factor(columns).asDiagonal());
}

absl::StatusOr<std::vector<LeaveOneOut>> TransformedEmulator::LeaveOneOutPredictions() const {
  FIDELIO_ASSIGN_OR_RETURN(std::vector<LeaveOneOut> result, base_->LeaveOneOutPredictions());
  FIDELIO_ASSIGN_OR_RETURN(const std::vector<ObservedMixtures> mixtures, base_->LeaveOneOutMixtures());
  for (size_t t = 0; t < result.size(); ++t) {
    LeaveOneOut& at = result[t];
    ObservedMixtures y = mixtures[t];
    for (Index i = 0; i < at.y.size(); ++i) {
      for (Index s = 0; s < y.mean.rows(); ++s) {
        const TransformedMoments moments = transform_.Moments(y.mean(s, i), y.variance(s, i));
        y.mean(s, i) = moments.mean;
        y.variance(s, i) = moments.variance;
      }
      y.y[i] = transform_.Backward(y.y[i]);
      at.log_density[i] += std::log(transform_.Slope(y.y[i]));
    }
    const LeaveOneOut moments = Summarise(y);
    at.y = moments.y;
    at.mean = moments.mean;
    at.variance = moments.variance;
  }
  return result;
}

absl::StatusOr<Matrix> TransformedEmulator::SamplePaths(const Matrix& x, const SampleOptions& options) const {
  FIDELIO_ASSIGN_OR_RETURN(Matrix paths, base_->SamplePaths(x, options));
  for (double& value : paths.reshaped()) value = transform_.Backward(value);
  return paths;
}

absl::StatusOr<std::unique_ptr<PathSamples>> TransformedEmulator::DrawPaths(const PathOptions& options) const {
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<PathSamples> base, base_->DrawPaths(options));
  return std::make_unique<TransformedPaths>(transform_, std::move(base));
}

absl::StatusOr<std::unique_ptr<Emulator>> TransformedEmulator::Condition(const Dataset& data, int threads) const {
  FIDELIO_ASSIGN_OR_RETURN(const Dataset transformed, transform_.Apply(data));
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<Emulator> base, base_->Condition(transformed, threads));
  return std::make_unique<TransformedEmulator>(
      transform_, std::unique_ptr<const MixtureEmulator>(static_cast<MixtureEmulator*>(base.release())));
}

std::string TransformedEmulator::Save() const {
  ByteWriter out;
  out.U32(static_cast<uint32_t>(transform_.kind));
  out.F64(transform_.lower);
  out.F64(transform_.upper);
  out.F64(transform_.lower_gap);
  out.F64(transform_.upper_gap);
  out.String(base_->Save());
  return out.Seal(kTransformedEmulatorKind, kVersion);
}

absl::StatusOr<std::unique_ptr<TransformedEmulator>> TransformedEmulator::Load(absl::string_view bytes,
                                                                               const LoadBase& load_base) {
  FIDELIO_ASSIGN_OR_RETURN(
      ByteReader::Opened opened,
      ByteReader::Open(bytes, kTransformedEmulatorKind, kVersion, "checkpoint of a model with an output transform"));
  ByteReader& in = opened.reader;
  OutputTransform transform;
  const uint32_t kind = in.U32();
  transform.kind = static_cast<OutputTransform::Kind>(kind);
  transform.lower = in.F64();
  transform.upper = in.F64();
  transform.lower_gap = in.F64();
  transform.upper_gap = in.F64();
  const std::string base_bytes = in.ReadString();
  FIDELIO_RETURN_IF_ERROR(in.Finish());
  if (transform.kind != OutputTransform::Kind::kLog && transform.kind != OutputTransform::Kind::kLogit) {
    return absl::DataLossError(absl::StrFormat("unknown output transform %d", kind));
  }
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<const MixtureEmulator> base, load_base(base_bytes));
  return std::make_unique<TransformedEmulator>(transform, std::move(base));
}

}  // namespace fidelio
