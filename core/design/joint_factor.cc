#include "core/design/joint_factor.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/linalg/pivoted_cholesky.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr int kColumnsAtATime = 48;
// A column at hand is used while what is left of it is at least this part of the largest that is left.
constexpr double kGoodEnough = 0.5;

absl::Status Check(const JointFactorOptions& options) {
  if (!(std::isfinite(options.tolerance) && options.tolerance >= 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("tolerance: ", options.tolerance, ", must be finite and at least 0"));
  }
  if (options.largest_rank < 0) {
    return absl::InvalidArgumentError(absl::StrCat("largest_rank: ", options.largest_rank, ", must be at least 0"));
  }
  return absl::OkStatus();
}

// Inputs of which much is left, and that are far from each other: one tells much of what is left at its neighbours.
std::vector<int> ChooseColumns(const Matrix& unit_x, const Vector& rest) {
  const Index n = rest.size();
  std::vector<int> chosen;
  Vector distance = Vector::Ones(n);  // squared, to the nearest that is chosen
  while (static_cast<int>(chosen.size()) < std::min<Index>(kColumnsAtATime, n)) {
    Index best = 0;
    if (!(rest.cwiseProduct(distance).maxCoeff(&best) > 0)) break;
    chosen.push_back(static_cast<int>(best));
    distance = distance.cwiseMin((unit_x.rowwise() - unit_x.row(best)).rowwise().squaredNorm());
  }
  return chosen;
}

// Inputs scaled to their range.
Matrix ToUnit(const Matrix& x) {
  const Eigen::RowVectorXd low = x.colwise().minCoeff();
  const Vector range = (x.colwise().maxCoeff() - low).transpose();
  return (x.rowwise() - low) * range.unaryExpr([](double r) { return r > 0 ? 1 / r : 1; }).asDiagonal();
}

}  // namespace

absl::StatusOr<JointFactor> FactoriseJoint(const Emulator& emulator, const Matrix& x,
                                           const JointFactorOptions& options) {
  FIDELIO_RETURN_IF_ERROR(Check(options));
  const PredictOptions predict{.level = options.level, .threads = options.threads, .check = options.check};
  FIDELIO_ASSIGN_OR_RETURN(Prediction at, emulator.Predict(x, predict));
  const Index n = x.rows(), most = options.largest_rank == 0 ? n : std::min<Index>(options.largest_rank, n);
  JointFactor result{.mean = std::move(at.mean), .factor = Matrix(n, 0), .rest = std::move(at.variance)};
  if (n == 0) return result;
  const std::vector<int> levels(n, options.level < 0 ? emulator.levels() - 1 : options.level);
  const Matrix unit_x = ToUnit(x);
  std::map<Index, Vector> at_hand;  // columns that are not used yet
  PivotedCholesky cholesky(result.rest, [&](Index i, Eigen::Ref<Vector> column) { column = at_hand.at(i); });
  const double target = options.tolerance * cholesky.rest_trace();
  while (cholesky.rank() < most && cholesky.rest_trace() > target) {
    auto best = at_hand.end();
    for (auto it = at_hand.begin(); it != at_hand.end(); ++it) {
      if (best == at_hand.end() || cholesky.rest()[it->first] > cholesky.rest()[best->first]) best = it;
    }
    if (best != at_hand.end() && cholesky.rest()[best->first] >= kGoodEnough * cholesky.rest().maxCoeff()) {
      const bool grown = cholesky.GrowAt(best->first);
      at_hand.erase(best);
      if (!grown) break;  // of the largest that is left, nothing but noise
      continue;
    }
    at_hand.clear();
    const std::vector<int> columns = ChooseColumns(unit_x, cholesky.rest());
    if (columns.empty()) break;
    FIDELIO_ASSIGN_OR_RETURN(const Matrix covariance, emulator.JointColumnsAt(x, levels, columns, predict));
    for (size_t j = 0; j < columns.size(); ++j) at_hand[columns[j]] = covariance.col(static_cast<Index>(j));
  }
  result.factor = cholesky.factor();
  result.rest = cholesky.rest();
  return result;
}

}  // namespace fidelio
