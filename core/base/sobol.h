// Scrambled Sobol' points: n points that fill a box evenly, also in each pair of dimensions.
//
// The sequence has the direction numbers of Joe and Kuo (2008) and is scrambled by a random lower triangular matrix and
// a random shift of the binary digits in each dimension (Matoušek 1998): every point is uniform in the box, different
// seeds give independent designs, and the first 2^m points put one into every of 2^m equal cells of each axis. The same
// bits on every machine. The first points of a larger design are those of a smaller one with the same seed.
#ifndef FIDELIO_CORE_BASE_SOBOL_H_
#define FIDELIO_CORE_BASE_SOBOL_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/base/export.h"
#include "core/base/types.h"

namespace fidelio {

inline constexpr int kMostSobolDimensions = 256;

// n×d points in the box. INVALID_ARGUMENT when n < 0, d is not 1 to kMostSobolDimensions, or the bounds are not
// finite with lower < upper.
FIDELIO_EXPORT absl::StatusOr<Matrix> ScrambledSobol(int n, const Vector& lower, const Vector& upper, uint64_t seed);

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASE_SOBOL_H_
