#include "server/telemetry/escape.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace fidelio {
namespace {

struct Character {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: not valid UTF-8
};

// The first character of `text`, which is not empty. Follows Unicode's table of well-formed byte sequences.
Character Decode(std::string_view text) {
  const auto byte = [&](size_t i) -> uint32_t { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  const auto continues = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead >= 0xC2 && lead <= 0xDF && continues(1)) return {(lead & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (lead >= 0xE0 && lead <= 0xEF && continues(1) && continues(2)) {
    const uint32_t code = (lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    if (code >= 0x800 && (code < 0xD800 || code > 0xDFFF)) return {code, 3};
  }
  if (lead >= 0xF0 && lead <= 0xF4 && continues(1) && continues(2) && continues(3)) {
    const uint32_t code = (lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
    if (code >= 0x10000 && code <= 0x10FFFF) return {code, 4};
  }
  return {};
}

// Characters that a terminal or a reader of lines would act upon instead of showing them.
bool IsActive(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x061C || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

}  // namespace

std::string EscapeForLog(std::string_view value, size_t longest) {
  std::string out;
  out.reserve(value.size() < longest ? value.size() : longest);
  for (size_t i = 0; i < value.size();) {
    const Character character = Decode(value.substr(i));
    const size_t bytes = character.bytes == 0 ? 1 : character.bytes;
    if (i + bytes > longest) {
      out += "...";
      break;
    }
    if (character.bytes == 0) {
      out += "\xEF\xBF\xBD";
    } else if (character.code == '"' || character.code == '\\') {
      absl::StrAppend(&out, "\\", absl::string_view(value.data() + i, 1));
    } else if (character.code == '\n') {
      out += "\\n";
    } else if (character.code == '\r') {
      out += "\\r";
    } else if (character.code == '\t') {
      out += "\\t";
    } else if (IsActive(character.code)) {
      absl::StrAppendFormat(&out, "\\u%04x", character.code);
    } else {
      out.append(value.substr(i, bytes));
    }
    i += bytes;
  }
  return out;
}

}  // namespace fidelio
