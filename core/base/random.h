// Random: a counter-based generator (Philox4x32-10, Salmon et al. 2011).
//
// A stream is named by (seed, stream, position): no state but a counter, so that a saved fit continues with the same
// numbers, and parallel work draws the same numbers whatever the number of threads.
#ifndef FIDELIO_CORE_BASE_RANDOM_H_
#define FIDELIO_CORE_BASE_RANDOM_H_

#include <array>
#include <cstdint>

#include "core/base/export.h"
#include "core/base/types.h"

namespace fidelio {

// The Philox4x32-10 block function.
FIDELIO_EXPORT std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// The upper 53 bits as a number in (0, 1), never 0 or 1.
FIDELIO_EXPORT double OpenUniform(uint64_t bits);

class FIDELIO_EXPORT Random {
 public:
  // `position` lets one stream be split further (for example by iteration).
  Random(uint64_t seed, uint32_t stream, uint32_t position = 0);

  uint64_t NextBits();
  double Uniform();  // in (0, 1), never 0 or 1
  double Normal();   // by inversion: one uniform each
  Vector NormalVector(int n);

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_;
  std::array<uint32_t, 4> block_{};
  int used_ = 4;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASE_RANDOM_H_
