// The digits of Sobol' points: dimension j of point i is SobolDirections(d)[j] combined by the digits of i's Gray code,
// as a fraction of 2³².
#ifndef FIDELIO_CORE_BASE_SOBOL_SEQUENCE_H_
#define FIDELIO_CORE_BASE_SOBOL_SEQUENCE_H_

#include <array>
#include <cstdint>
#include <vector>

namespace fidelio {

inline constexpr int kSobolBits = 32;
using SobolColumns =
    std::array<uint32_t, kSobolBits>;  // the numbers v_1, v_2, …, each with its first digit as highest bit

// Of the first d dimensions. Requires 1 ≤ d ≤ kMostSobolDimensions.
std::vector<SobolColumns> SobolDirections(int d);

// The points 0 … n−1 of one dimension, before the scrambling or after it, by what was done to its columns.
std::vector<uint32_t> SobolDigits(int n, const SobolColumns& columns);

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASE_SOBOL_SEQUENCE_H_
