// Finds points that are the same to a tolerance.
#ifndef FIDELIO_CORE_DESIGN_NEAR_POINTS_H_
#define FIDELIO_CORE_DESIGN_NEAR_POINTS_H_

#include <vector>

#include "core/base/types.h"

namespace fidelio {

enum class Kept { kYes, kExcluded, kCopy };

// For each row of `points` (n×d): kExcluded when it is near a row of `excluded` (m×d), else kCopy when it is near an
// earlier row that is kept, else kYes. Two points are near when no coordinate differs by more than `tolerance` times
// the range of that coordinate over `points`.
std::vector<Kept> FindNearPoints(const Matrix& points, const Matrix& excluded, double tolerance);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DESIGN_NEAR_POINTS_H_
