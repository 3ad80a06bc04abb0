#include "core/design/dpp_design.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/design/dpp_map.h"
#include "core/design/k_dpp.h"
#include "core/design/near_points.h"
#include "core/design/variance_reduction.h"

namespace fidelio {
namespace {

using Eigen::Index;

absl::Status Check(const Emulator& emulator, const Matrix& candidates, const DppDesignOptions& options) {
  const int d = emulator.input_dimension();
  if (options.k < 1) return absl::InvalidArgumentError(absl::StrCat("k: ", options.k, ", must be at least 1"));
  if (candidates.rows() < 1 || candidates.rows() > kMostJointInputs) {
    return absl::InvalidArgumentError(
        absl::StrCat("candidates: ", candidates.rows(), " rows, must be 1 to ", kMostJointInputs));
  }
  if (options.excluded.rows() > 0 && options.excluded.cols() != d) {
    return absl::InvalidArgumentError(
        absl::StrCat("excluded: ", options.excluded.cols(), " columns, but the model has input dimension ", d));
  }
  if (!options.excluded.allFinite()) return absl::InvalidArgumentError("excluded: must be finite");
  if (!(std::isfinite(options.same_distance) && options.same_distance >= 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("same_distance: ", options.same_distance, ", must be finite and at least 0"));
  }
  if (options.quality_mode == QualityMode::kGiven) return CheckQuality(options.quality, candidates.rows());
  return absl::OkStatus();
}

// The candidates that may be chosen, or an error when they are too few.
absl::StatusOr<std::vector<int>> Choosable(const Matrix& candidates, const DppDesignOptions& options) {
  const std::vector<Kept> kept = FindNearPoints(candidates, options.excluded, options.same_distance);
  std::vector<int> choosable;
  for (int i = 0; i < static_cast<int>(kept.size()); ++i) {
    if (kept[i] == Kept::kYes) choosable.push_back(i);
  }
  if (static_cast<int>(choosable.size()) < options.k) {
    return absl::InvalidArgumentError(
        absl::StrCat("k: ", options.k, ", but of ", kept.size(), " candidates ",
                     std::count(kept.begin(), kept.end(), Kept::kExcluded), " are excluded and ",
                     std::count(kept.begin(), kept.end(), Kept::kCopy), " are copies of others"));
  }
  return choosable;
}

Vector Quality(const Vector& mean, const DppDesignOptions& options) {
  switch (options.quality_mode) {
    case QualityMode::kMean:
      return QualityOfMean(mean);
    case QualityMode::kGiven:
      return options.quality;
    case QualityMode::kNone:
      break;
  }
  return Vector::Ones(mean.size());
}

// Fills indices, as numbers of the candidates, and log_determinant.
absl::Status Choose(const Matrix& covariance, const Vector& quality, const std::vector<int>& choosable,
                    const DppDesignOptions& options, Design& design) {
  const Vector q = quality(choosable);
  if (options.method == DppMethod::kMap) {
    const Vector diagonal = covariance.diagonal()(choosable).cwiseMax(0).cwiseProduct(q.cwiseAbs2());
    const KernelColumn column = [&](Index j, Eigen::Ref<Vector> to) {
      to = covariance.col(choosable[j])(choosable).cwiseProduct(q) * q[j];
    };
    FIDELIO_ASSIGN_OR_RETURN(DppMap map, GreedyDppMap(diagonal, column, options.k));
    design.indices = std::move(map.indices);
    design.log_determinant = map.log_determinant;
  } else {
    Matrix kernel = q.asDiagonal() * covariance(choosable, choosable) * q.asDiagonal();
    FIDELIO_ASSIGN_OR_RETURN(
        KDppDraw draw, KDpp::SampleOnce(std::move(kernel), options.k, options.seed, {.threads = options.threads}));
    design.indices = std::move(draw.indices);
    design.log_determinant = draw.log_determinant;
  }
  for (int& i : design.indices) i = choosable[i];
  return absl::OkStatus();
}

// `joint`: of f_t at the candidates, which serves when t is the highest level.
absl::StatusOr<VarianceReduction> Reduction(const Emulator& emulator, const Matrix& candidates,
                                            const JointPosterior& joint, const Design& design, PredictOptions options) {
  const int top = emulator.levels() - 1, level = options.level == -1 ? top : options.level;
  options.include_noise = true;
  FIDELIO_ASSIGN_OR_RETURN(const Prediction noisy, emulator.Predict(design.inputs, options));
  options.include_noise = false;
  const Vector noise = (noisy.variance - joint.covariance.diagonal()(design.indices)).cwiseMax(0);
  Vector variances = joint.covariance.diagonal();
  Matrix cross;  // k×n
  if (level == top) {
    cross = joint.covariance(design.indices, Eigen::all);
  } else {
    const Index k = design.inputs.rows(), n = std::min<Index>(candidates.rows(), kMostJointInputs - k);
    Matrix x(k + n, candidates.cols());
    x << design.inputs, candidates.topRows(n);
    std::vector<int> levels(k + n, top), columns(k);
    std::fill_n(levels.begin(), k, level);
    std::iota(columns.begin(), columns.end(), 0);
    FIDELIO_ASSIGN_OR_RETURN(const Matrix both, emulator.JointColumnsAt(x, levels, columns, options));
    cross = both.bottomRows(n).transpose();
    PredictOptions at_the_top = options;
    at_the_top.level = top;
    FIDELIO_ASSIGN_OR_RETURN(Prediction before, emulator.Predict(candidates.topRows(n), at_the_top));
    variances = std::move(before.variance);
  }
  FIDELIO_ASSIGN_OR_RETURN(const double trace,
                           TraceReduction(joint.covariance(design.indices, design.indices), cross, noise));
  const double before = variances.mean();
  return VarianceReduction{.before = before,
                           .after = std::max(before - trace / static_cast<double>(variances.size()), 0.0)};
}

}  // namespace

absl::StatusOr<Design> DesignByDpp(const Emulator& emulator, const Matrix& candidates,
                                   const DppDesignOptions& options) {
  FIDELIO_RETURN_IF_ERROR(Check(emulator, candidates, options));
  const PredictOptions predict{.level = options.level, .threads = options.threads, .check = options.check};
  // First, because it checks the candidates and the level.
  FIDELIO_ASSIGN_OR_RETURN(const JointPosterior joint, emulator.JointMoments(candidates, predict));
  FIDELIO_ASSIGN_OR_RETURN(const std::vector<int> choosable, Choosable(candidates, options));
  if (options.check) FIDELIO_RETURN_IF_ERROR(options.check());
  const Vector quality = Quality(joint.mean, options);
  Design design;
  FIDELIO_RETURN_IF_ERROR(Choose(joint.covariance, quality, choosable, options, design));
  design.inputs = candidates(design.indices, Eigen::all);
  design.quality = quality(design.indices);
  FIDELIO_ASSIGN_OR_RETURN(design.reduction, Reduction(emulator, candidates, joint, design, predict));
  return design;
}

}  // namespace fidelio
