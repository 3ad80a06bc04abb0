#include "server/model/design_space.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/sobol.h"
#include "core/base/status_macros.h"

namespace fidelio {

using Eigen::Index;

InputBox DesignBox(const Dataset& data) {
  if (data.box) return *data.box;
  InputBox box;
  for (const LevelData& level : data.levels) {
    if (level.x.rows() == 0) continue;
    const Vector lower = level.x.colwise().minCoeff(), upper = level.x.colwise().maxCoeff();
    box.lower = box.lower.size() == 0 ? lower : Vector(box.lower.cwiseMin(lower));
    box.upper = box.upper.size() == 0 ? upper : Vector(box.upper.cwiseMax(upper));
  }
  return box;
}

absl::StatusOr<Matrix> FillBox(const InputBox& box, int n, uint64_t seed) {
  std::vector<Index> wide;
  for (Index j = 0; j < box.lower.size(); ++j) {
    if (box.lower[j] < box.upper[j]) wide.push_back(j);
  }
  Matrix points = box.lower.transpose().replicate(n, 1);
  if (wide.empty()) return points;
  if (wide.size() > kMostSobolDimensions) {
    return absl::InvalidArgumentError(absl::StrCat("candidates: the server fills boxes of at most ",
                                                   kMostSobolDimensions, " inputs, but that of the model has ",
                                                   wide.size(), "; SampleDPP with candidates of yours needs none"));
  }
  FIDELIO_ASSIGN_OR_RETURN(const Matrix sobol, ScrambledSobol(n, box.lower(wide), box.upper(wide), seed));
  points(Eigen::all, wide) = sobol;
  return points;
}

}  // namespace fidelio
