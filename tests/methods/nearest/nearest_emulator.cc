#include "tests/methods/nearest/nearest_emulator.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "core/base/bytes.h"
#include "core/base/equal_rows.h"
#include "core/base/random.h"
#include "core/base/status_macros.h"
#include "core/data/dataset_bytes.h"
#include "core/emulator/query_check.h"
#include "core/emulator/report_bytes.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr double kLeastVariance = 1e-300;  // mixtures need positive variances

struct Neighbour {
  Index row = -1;  // −1: there is none
  double distance = std::numeric_limits<double>::infinity();
};

// The observation nearest to x, leaving out those that equal row `without`.
Neighbour FindNearest(const LevelData& level, const Eigen::RowVectorXd& x, Index without = -1) {
  Neighbour nearest;
  for (Index j = 0; j < level.x.rows(); ++j) {
    if (without >= 0 && level.x.row(j) == level.x.row(without)) continue;
    const double distance = (level.x.row(j) - x).norm();
    if (distance < nearest.distance) nearest = {j, distance};
  }
  return nearest;
}

}  // namespace

double NearestEmulator::Noise(int level) const {
  const Vector& given = data_.levels[level].noise_variance;
  return given.size() > 0 ? given.mean() : 0;
}

absl::StatusOr<Mixture> NearestEmulator::PredictMixture(const Matrix& x, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  const int t = LevelOf(options.level);
  Mixture mixture{.weight = Vector::Ones(1), .mean = Matrix(1, x.rows()), .variance = Matrix(1, x.rows())};
  for (Index i = 0; i < x.rows(); ++i) {
    const Neighbour nearest = FindNearest(data_.levels[t], x.row(i));
    mixture.mean(0, i) = data_.levels[t].y[nearest.row];
    mixture.variance(0, i) =
        std::max(growth_[t] * nearest.distance + (options.include_noise ? Noise(t) : 0), kLeastVariance);
  }
  return mixture;
}

absl::StatusOr<Matrix> NearestEmulator::MixtureGradient(const Matrix& x, const Matrix& mean_bar,
                                                        const Matrix& variance_bar,
                                                        const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  FIDELIO_RETURN_IF_ERROR(CheckMixtureGradient(x, 1, mean_bar, variance_bar));
  const int t = LevelOf(options.level);
  Matrix gradient = Matrix::Zero(x.rows(), x.cols());
  for (Index i = 0; i < x.rows(); ++i) {
    const Neighbour nearest = FindNearest(data_.levels[t], x.row(i));
    if (nearest.distance == 0) continue;
    gradient.row(i) =
        variance_bar(0, i) * growth_[t] * (x.row(i) - data_.levels[t].x.row(nearest.row)) / nearest.distance;
  }
  return gradient;
}

absl::StatusOr<Prediction> NearestEmulator::Predict(const Matrix& x, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuantiles(options.quantiles));
  FIDELIO_ASSIGN_OR_RETURN(const Mixture mixture, PredictMixture(x, options));
  Prediction result{.mean = MixtureMean(mixture), .median = Vector(x.rows()), .mean_cdf = Vector(x.rows())};
  result.variance = MixtureVariance(mixture, result.mean);
  result.quantiles = MixtureQuantiles(mixture, options.quantiles);
  if (options.input_gradient) result.input_gradient = Matrix::Zero(x.rows(), x.cols());
  SetMedians(mixture, result.mean, 0, result);
  return result;
}

absl::StatusOr<Vector> NearestEmulator::LogDensity(const Matrix& x, const Vector& y,
                                                   const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckOutputs(x, y));
  FIDELIO_ASSIGN_OR_RETURN(const Mixture mixture, PredictMixture(x, options));
  return MixtureLogDensity(mixture, y);
}

absl::StatusOr<JointPosterior> NearestEmulator::JointMomentsAt(const Matrix& x, const std::vector<int>& levels,
                                                               const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckJointQuery(*this, x, levels));
  JointPosterior joint{.mean = Vector(x.rows()), .covariance = Matrix::Zero(x.rows(), x.rows())};
  std::vector<Neighbour> nearest;
  for (Index i = 0; i < x.rows(); ++i) {
    const LevelData& level = data_.levels[levels[i]];
    nearest.push_back(FindNearest(level, x.row(i)));
    joint.mean[i] = level.y[nearest[i].row];
    for (Index j = 0; j <= i; ++j) {
      if (levels[j] != levels[i] || nearest[j].row != nearest[i].row) continue;
      joint.covariance(i, j) = growth_[levels[i]] * std::min(nearest[i].distance, nearest[j].distance);
      joint.covariance(j, i) = joint.covariance(i, j);
    }
    if (options.include_noise) joint.covariance(i, i) += Noise(levels[i]);
    joint.covariance(i, i) = std::max(joint.covariance(i, i), kLeastVariance);
  }
  return joint;
}

absl::StatusOr<Matrix> NearestEmulator::SamplePaths(const Matrix& x, const SampleOptions& options) const {
  FIDELIO_ASSIGN_OR_RETURN(const JointPosterior joint,
                           JointMoments(x, {.level = LevelOf(options.level), .include_noise = options.include_noise}));
  Matrix covariance = joint.covariance;
  covariance.diagonal().array() += 1e-12 * covariance.diagonal().maxCoeff() + kLeastVariance;
  const Matrix factor = covariance.llt().matrixL();
  Matrix paths(options.count, x.rows());
  for (int k = 0; k < options.count; ++k) {
    Random random(options.seed, 0, static_cast<uint32_t>(k));
    paths.row(k) = joint.mean + factor * random.NormalVector(static_cast<int>(x.rows()));
  }
  return paths;
}

absl::StatusOr<std::unique_ptr<PathSamples>> NearestEmulator::DrawPaths(const PathOptions&) const {
  return absl::UnimplementedError("NEAREST has no samples that are functions; ask for joint samples");
}

absl::StatusOr<std::vector<ObservedMixtures>> NearestEmulator::LeaveOneOutMixtures() const {
  std::vector<ObservedMixtures> all;
  for (int t = 0; t < levels(); ++t) {
    const LevelData& level = data_.levels[t];
    const Index n = level.y.size();
    ObservedMixtures own{.y = level.y,
                         .weight = Matrix::Ones(1, n),
                         .mean = Matrix(1, n),
                         .variance = Matrix(1, n),
                         .group = FindEqualRows(level.x).group};
    for (Index i = 0; i < n; ++i) {
      const Neighbour nearest = FindNearest(level, level.x.row(i), i);
      own.mean(0, i) = level.y[nearest.row];
      own.variance(0, i) = std::max(growth_[t] * nearest.distance + Noise(t), kLeastVariance);
    }
    all.push_back(std::move(own));
  }
  return all;
}

absl::StatusOr<std::vector<LeaveOneOut>> NearestEmulator::LeaveOneOutPredictions() const {
  FIDELIO_ASSIGN_OR_RETURN(const std::vector<ObservedMixtures> mixtures, LeaveOneOutMixtures());
  std::vector<LeaveOneOut> all;
  for (const ObservedMixtures& own : mixtures) all.push_back(Summarise(own));
  return all;
}

absl::StatusOr<std::unique_ptr<Emulator>> NearestEmulator::Condition(const Dataset& data, int) const {
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  if (data.levels.size() != data_.levels.size() || data.dimension() != data_.dimension()) {
    return absl::InvalidArgumentError("data: want the levels and inputs of the model");
  }
  return std::make_unique<NearestEmulator>(data, growth_, report_);
}

std::string NearestEmulator::Save() const {
  ByteWriter out;
  WriteDataset(data_, out);
  out.Write(growth_);
  WriteReport(report_, out);
  return out.Seal(kNearestBytes, 1);
}

absl::StatusOr<std::unique_ptr<MixtureEmulator>> NearestEmulator::Load(absl::string_view bytes) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader::Opened opened, ByteReader::Open(bytes, kNearestBytes, 1, "nearest neighbour"));
  Dataset data = ReadDataset(opened.reader);
  Vector growth = opened.reader.ReadVector();
  FitReport report = ReadReport(opened.reader, /*sampling=*/true);
  report.draws = 1;
  FIDELIO_RETURN_IF_ERROR(opened.reader.Finish());
  if (!Validate(data).ok() || growth.size() != static_cast<Index>(data.levels.size())) {
    return absl::DataLossError("nearest neighbour: its data make no sense");
  }
  return std::make_unique<NearestEmulator>(std::move(data), std::move(growth), report);
}

int64_t NearestEmulator::MemoryBytes() const {
  int64_t numbers = 0;
  for (const LevelData& level : data_.levels) numbers += level.x.size() + 2 * level.y.size();
  return static_cast<int64_t>(sizeof(*this)) + 8 * numbers;
}

absl::StatusOr<std::unique_ptr<EmulatorFit>> NearestFit::Create(const Dataset& data, const FitOptions& options) {
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  FIDELIO_RETURN_IF_ERROR(Validate(options));
  for (size_t t = 0; t < data.levels.size(); ++t) {
    const LevelData& level = data.levels[t];
    if (level.y.size() == 0 || FindNearest(level, level.x.row(0), 0).row < 0) {
      return absl::FailedPreconditionError(absl::StrCat("levels[", t, "]: want observations at two inputs or more"));
    }
  }
  const auto margin = options.method_options.find("margin");
  return std::unique_ptr<EmulatorFit>(
      new NearestFit(data, margin == options.method_options.end() ? 1 : margin->second));
}

absl::StatusOr<std::unique_ptr<EmulatorFit>> NearestFit::Resume(absl::string_view state, const Dataset& data, int) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader::Opened opened,
                           ByteReader::Open(state, kNearestFitBytes, 1, "nearest neighbour"));
  const double margin = opened.reader.F64();
  FIDELIO_RETURN_IF_ERROR(opened.reader.Finish());
  return Create(data, {.method_options = {{"margin", margin}}});
}

absl::StatusOr<std::unique_ptr<MixtureEmulator>> NearestFit::Run(FitObserver* observer) {
  Vector growth(static_cast<Index>(data_.levels.size()));
  for (size_t t = 0; t < data_.levels.size(); ++t) {
    const LevelData& level = data_.levels[t];
    const Index n = level.y.size();
    double sum = 0;
    for (Index i = 0; i < n; ++i) {
      const Neighbour nearest = FindNearest(level, level.x.row(i), i);
      const double difference = level.y[i] - level.y[nearest.row];
      sum += difference * difference / nearest.distance;
    }
    growth[static_cast<Index>(t)] = margin_ * sum / static_cast<double>(n);
  }
  if (observer != nullptr &&
      !observer->OnProgress({.phase = "finish", .iteration = 1, .evaluations = 1, .fraction = 1})) {
    return absl::CancelledError("the observer stopped the fit");
  }
  return std::make_unique<NearestEmulator>(data_, std::move(growth), FitReport{.evaluations = 1, .draws = 1});
}

std::string NearestFit::SaveState() const {
  ByteWriter out;
  out.F64(margin_);
  return out.Seal(kNearestFitBytes, 1);
}

}  // namespace fidelio
