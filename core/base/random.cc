#include "core/base/random.h"

#include <algorithm>

#include "core/base/normal.h"

namespace fidelio {

std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * c[0];
    const uint64_t p1 = uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(p0)};
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return c;
}

Random::Random(uint64_t seed, uint32_t stream, uint32_t position)
    : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}, counter_{0, 0, position, stream} {}

uint64_t Random::NextBits() {
  if (used_ == 4) {
    block_ = Philox(counter_, key_);
    if (++counter_[0] == 0) ++counter_[1];
    used_ = 0;
  }
  const uint64_t bits = (uint64_t{block_[used_ + 1]} << 32) | block_[used_];
  used_ += 2;
  return bits;
}

double OpenUniform(uint64_t bits) {
  // 2⁵³ − ½ rounds up to 2⁵³.
  return std::min((static_cast<double>(bits >> 11) + 0.5) * 0x1p-53, 1 - 0x1p-53);
}

double Random::Uniform() { return OpenUniform(NextBits()); }

double Random::Normal() { return NormalQuantile(Uniform()); }

Vector Random::NormalVector(int n) {
  Vector v(n);
  for (int i = 0; i < n; ++i) v[i] = Normal();
  return v;
}

}  // namespace fidelio
