#include "core/base/sobol.h"

#include <algorithm>
#include <bit>
#include <boost/random/detail/sobol_table.hpp>
#include <cmath>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/random.h"
#include "core/base/random_streams.h"
#include "core/base/sobol_sequence.h"

namespace fidelio {
namespace {

// Of each dimension from the second, a primitive polynomial and the initial numbers m_1, m_2, …
using JoeKuo = boost::random::detail::qrng_tables::sobol;
static_assert(kMostSobolDimensions <= JoeKuo::max_dimension);

absl::Status Check(int n, const Vector& lower, const Vector& upper) {
  if (n < 0) return absl::InvalidArgumentError(absl::StrCat("points: ", n, ", must be at least 0"));
  if (lower.size() != upper.size()) {
    return absl::InvalidArgumentError(absl::StrCat("upper: ", upper.size(), " elements, but lower has ", lower.size()));
  }
  if (lower.size() < 1 || lower.size() > kMostSobolDimensions) {
    return absl::InvalidArgumentError(
        absl::StrCat("lower: ", lower.size(), " dimensions, must be 1 to ", kMostSobolDimensions));
  }
  for (int j = 0; j < lower.size(); ++j) {
    if (!(std::isfinite(lower[j]) && std::isfinite(upper[j]) && lower[j] < upper[j])) {
      return absl::InvalidArgumentError(
          absl::StrCat("upper[", j, "]: ", upper[j], ", must be finite and above lower[", j, "], which is ", lower[j]));
    }
  }
  return absl::OkStatus();
}

// columns ← m·columns for a random lower triangular m with ones on its diagonal; digit 1 is the highest bit.
void Scramble(Random& random, SobolColumns& columns) {
  SobolColumns rows;  // of m, in the order of the digits
  for (int i = 0; i < kSobolBits; ++i) {
    const uint32_t diagonal = uint32_t{1} << (kSobolBits - 1 - i);
    const uint32_t before = ~(diagonal | (diagonal - 1));
    rows[i] = (static_cast<uint32_t>(random.NextBits() >> 32) & before) | diagonal;
  }
  for (uint32_t& column : columns) {
    uint32_t scrambled = 0;
    for (int i = 0; i < kSobolBits; ++i) scrambled = (scrambled << 1) | (std::popcount(rows[i] & column) & 1);
    column = scrambled;
  }
}

}  // namespace

std::vector<SobolColumns> SobolDirections(int d) {
  std::vector<SobolColumns> directions(d);
  for (int k = 0; k < kSobolBits; ++k) directions[0][k] = uint32_t{1} << (kSobolBits - 1 - k);
  for (int j = 1; j < d; ++j) {
    const uint32_t polynomial = JoeKuo::polynomial(j - 1);  // its coefficients as bits, highest power first
    const int degree = std::bit_width(polynomial) - 1;
    SobolColumns& v = directions[j];
    for (int k = 0; k < degree; ++k) v[k] = uint32_t{JoeKuo::minit(j - 1, k)} << (kSobolBits - 1 - k);
    for (int k = degree; k < kSobolBits; ++k) {
      v[k] = v[k - degree] ^ (v[k - degree] >> degree);
      for (int i = 1; i < degree; ++i) {
        if ((polynomial >> (degree - i)) & 1) v[k] ^= v[k - i];
      }
    }
  }
  return directions;
}

std::vector<uint32_t> SobolDigits(int n, const SobolColumns& columns) {
  std::vector<uint32_t> digits(n);
  for (int i = 1; i < n; ++i) digits[i] = digits[i - 1] ^ columns[std::countr_zero(static_cast<uint32_t>(i))];
  return digits;
}

absl::StatusOr<Matrix> ScrambledSobol(int n, const Vector& lower, const Vector& upper, uint64_t seed) {
  if (const absl::Status status = Check(n, lower, upper); !status.ok()) return status;
  const int d = static_cast<int>(lower.size());
  std::vector<SobolColumns> directions = SobolDirections(d);
  Matrix x(n, d);
  for (int j = 0; j < d; ++j) {
    Random random(seed, StreamOf(RandomUse::kSobolScramble), static_cast<uint32_t>(j));
    Scramble(random, directions[j]);
    const uint32_t shift = static_cast<uint32_t>(random.NextBits() >> 32);
    const std::vector<uint32_t> digits = SobolDigits(n, directions[j]);
    for (int i = 0; i < n; ++i) {
      // The middle of a cell. Both ends are mixed, so that wide boxes do not overflow; fma is the same on every
      // machine, as what compilers make of a sum of products is not.
      const double u = (static_cast<double>(digits[i] ^ shift) + 0.5) * 0x1p-32;
      x(i, j) = std::clamp(std::fma(u, upper[j], (1 - u) * lower[j]), lower[j], upper[j]);
    }
  }
  return x;
}

}  // namespace fidelio
