#include "core/emulator/transformed_emulator.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/base/bytes.h"
#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/emulator/bounded_moments.h"
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

// The derivatives of the mixture's mean with respect to the moments of the components of z.
struct MeanBars {
  Matrix mean, variance;  // S×n each
};

// Adds what reaches the mean through the median of z, which moves the ends of the range: median_bar is ∂mean/∂median.
//   ∂median/∂m_s = w_s N_s / Σ w N       ∂median/∂v_s = w_s N_s u_s/(2 s_s) / Σ w N       N_s: the density of s at the median
void AddMedianBar(const Mixture& z, Index i, double median, double median_bar, MeanBars& bars) {
  const Eigen::ArrayXd sd = z.variance.col(i).array().sqrt(), u = (median - z.mean.col(i).array()) / sd;
  const Eigen::ArrayXd density = z.weight.array() * (-0.5 * u.square()).exp() / sd;
  const double total = density.sum();
  if (!(total > 0)) return;
  bars.mean.col(i).array() += median_bar / total * density;
  bars.variance.col(i).array() += median_bar / total * density * u / (2 * sd);
}

// The mean and variance of y of each component of z, as far as the range supports.
Mixture MomentsWithin(const OutputTransform& transform, const SupportedRange& support, const Mixture& z,
                      const Vector& median, MeanBars* bars) {
  Mixture y = z;
  if (bars != nullptr) *bars = {.mean = Matrix(z.mean.rows(), z.mean.cols()), .variance = z.variance};
  for (Index i = 0; i < z.mean.cols(); ++i) {
    const ZRange range = support.Around(median[i]);
    double lower_bar = 0, upper_bar = 0;
    for (Index s = 0; s < z.weight.size(); ++s) {
      const BoundedTransformMoments at = BoundedMoments(transform, z.mean(s, i), z.variance(s, i), range);
      y.mean(s, i) = at.moments.mean;
      y.variance(s, i) = at.moments.variance;
      lower_bar += z.weight[s] * at.lower_bar;
      upper_bar += z.weight[s] * at.upper_bar;
      if (bars == nullptr) continue;
      bars->mean(s, i) = z.weight[s] * at.moments.mean_bar;
      bars->variance(s, i) = z.weight[s] * at.moments.variance_bar;
    }
    const double median_bar = (median[i] < support.least ? lower_bar : 0) + (median[i] > support.most ? upper_bar : 0);
    if (bars != nullptr && median_bar > 0) AddMedianBar(z, i, median[i], median_bar, *bars);
  }
  return y;
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
    : transform_(transform), base_(std::move(base)), support_(SupportedRanges(base_->data())) {}

absl::StatusOr<Prediction> TransformedEmulator::Predict(const Matrix& x, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  FIDELIO_RETURN_IF_ERROR(CheckQuantiles(options.quantiles));
  Prediction result = RoomFor(x, options);
  const SupportedRange& support = support_[options.level < 0 ? levels() - 1 : options.level];
  PredictOptions block_options{.level = options.level, .include_noise = options.include_noise};
  const int blocks = static_cast<int>((x.rows() + kBlock - 1) / kBlock);
  std::vector<absl::Status> statuses(blocks);
  const auto predict = [&](int b) -> absl::Status {
    const Index begin = b * kBlock, n = std::min(kBlock, x.rows() - begin);
    const Matrix at = x.middleRows(begin, n);
    FIDELIO_ASSIGN_OR_RETURN(const Mixture z, base_->PredictMixture(at, block_options));
    const Vector median = MixtureMedians(z, MixtureMean(z)).median;
    MeanBars bars;
    const Mixture y = MomentsWithin(transform_, support, z, median, options.input_gradient ? &bars : nullptr);
    const Vector mean = MixtureMean(y);
    result.mean.segment(begin, n) = mean;
    result.variance.segment(begin, n) = MixtureVariance(y, mean);
    result.median.segment(begin, n) = median.unaryExpr([&](double m) { return transform_.Backward(m); });
    result.mean_cdf.segment(begin, n) = MixtureCdf(z, mean.unaryExpr([&](double m) { return transform_.Forward(m); }));
    if (!options.quantiles.empty()) {
      result.quantiles.middleRows(begin, n) =
          MixtureQuantiles(z, options.quantiles).unaryExpr([&](double q) { return transform_.Backward(q); });
    }
    if (options.input_gradient) {
      FIDELIO_ASSIGN_OR_RETURN(result.input_gradient.middleRows(begin, n),
                               base_->MixtureGradient(at, bars.mean, bars.variance, block_options));
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
    const ObservedMixtures& all = mixtures[t];
    for (Index i = 0; i < at.y.size(); ++i) {
      const Mixture z{.weight = all.weight.col(i), .mean = all.mean.col(i), .variance = all.variance.col(i)};
      const Mixture y = MomentsWithin(transform_, support_[t], z, at.median.segment(i, 1), nullptr);
      const Vector mean = MixtureMean(y);
      at.mean[i] = mean[0];
      at.variance[i] = MixtureVariance(y, mean)[0];
      at.mean_cdf[i] = MixtureCdf(z, Vector::Constant(1, transform_.Forward(mean[0])))[0];
      at.median[i] = transform_.Backward(at.median[i]);
      at.y[i] = transform_.Backward(at.y[i]);
      at.log_density[i] += std::log(transform_.Slope(at.y[i]));
    }
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
  out(transform_, base_->Save());
  return out.Seal(kTransformedEmulatorKind, kVersion);
}

absl::StatusOr<std::unique_ptr<TransformedEmulator>> TransformedEmulator::Load(absl::string_view bytes,
                                                                               const LoadBase& load_base) {
  FIDELIO_ASSIGN_OR_RETURN(
      ByteReader::Opened opened,
      ByteReader::Open(bytes, kTransformedEmulatorKind, kVersion, "checkpoint of a model with an output transform"));
  ByteReader& in = opened.reader;
  OutputTransform transform;
  std::string base_bytes;
  in(transform, base_bytes);
  FIDELIO_RETURN_IF_ERROR(in.Finish());
  if (transform.kind != OutputTransform::Kind::kLog && transform.kind != OutputTransform::Kind::kLogit) {
    return absl::DataLossError(absl::StrFormat("unknown output transform %d", static_cast<int>(transform.kind)));
  }
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<const MixtureEmulator> base, load_base(base_bytes));
  return std::make_unique<TransformedEmulator>(transform, std::move(base));
}

}  // namespace fidelio
