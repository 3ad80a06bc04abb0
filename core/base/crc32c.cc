#include "core/base/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

namespace fidelio {
namespace {

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = (c & 1) ? (c >> 1) ^ 0x82F63B78u : c >> 1;
    table[i] = c;
  }
  return table;
}

}  // namespace

uint32_t ExtendCrc32c(uint32_t crc, absl::string_view b) {
  static constexpr std::array<uint32_t, 256> kTable = MakeTable();
  uint32_t c = ~crc;
  size_t i = 0;
#ifdef __SSE4_2__  // every x86-64 level from v2 on
  for (; i + 8 <= b.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, b.data() + i, 8);
    c = static_cast<uint32_t>(__builtin_ia32_crc32di(c, word));
  }
#endif
  for (; i < b.size(); ++i) c = kTable[(c ^ static_cast<unsigned char>(b[i])) & 0xff] ^ (c >> 8);
  return ~c;
}

}  // namespace fidelio
