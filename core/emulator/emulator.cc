#include "core/emulator/emulator.h"

#include "core/base/status_macros.h"
#include "core/emulator/query_check.h"

namespace fidelio {

absl::StatusOr<JointPosterior> Emulator::JointMoments(const Matrix& x, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  const int level = options.level < 0 ? levels() - 1 : options.level;
  return JointMomentsAt(x, std::vector<int>(x.rows(), level), options);
}

absl::StatusOr<Matrix> Emulator::JointColumnsAt(const Matrix& x, const std::vector<int>& levels,
                                                const std::vector<int>& columns, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckColumns(columns, x.rows()));
  FIDELIO_ASSIGN_OR_RETURN(const JointPosterior joint, JointMomentsAt(x, levels, options));
  return Matrix(joint.covariance(Eigen::all, columns));
}

}  // namespace fidelio
