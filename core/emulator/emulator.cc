#include "core/emulator/emulator.h"

#include "core/base/status_macros.h"
#include "core/emulator/query_check.h"

namespace fidelio {

absl::StatusOr<JointPosterior> Emulator::JointMoments(const Matrix& x, const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  const int level = options.level < 0 ? levels() - 1 : options.level;
  return JointMomentsAt(x, std::vector<int>(x.rows(), level), options);
}

}  // namespace fidelio
