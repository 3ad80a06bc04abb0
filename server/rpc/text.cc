#include "server/rpc/text.h"

#include <cstdint>

namespace fidelio {
namespace {

constexpr absl::string_view kEllipsis = "…";

// Bytes of the UTF-8 sequence at the start of `text`, 0 when there is no valid one (overlong, surrogate, cut off, …).
size_t SequenceLength(absl::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                        : first >= 0xE0 && first <= 0xEF ? 3
                        : first >= 0xF0 && first <= 0xF4 ? 4
                                                         : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (first == 0xE0 && byte(1) < 0xA0) return 0;
  if (first == 0xED && byte(1) > 0x9F) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

}  // namespace

std::string SafeText(absl::string_view text, size_t max_bytes) {
  std::string safe;
  size_t cut = 0;  // up to here there is room for the ellipsis
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    const absl::string_view piece = length == 0 ? absl::string_view("?") : text.substr(0, length);
    if (safe.size() + piece.size() > max_bytes) {
      safe.resize(cut);
      safe.append(kEllipsis.data(), kEllipsis.size());
      return safe;
    }
    safe.append(piece.data(), piece.size());
    if (safe.size() + kEllipsis.size() <= max_bytes) cut = safe.size();
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return safe;
}

}  // namespace fidelio
