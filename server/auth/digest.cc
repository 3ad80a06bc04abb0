#include "server/auth/digest.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace fidelio {
namespace {

constexpr absl::string_view kScheme = "sha256:";
constexpr size_t kShortestToken = 20;

}  // namespace

Digest DigestOf(std::string_view bytes) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return digest;
}

std::string FormatDigest(const Digest& digest) {
  return absl::StrCat(
      kScheme, absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size())));
}

std::optional<Digest> ParseDigest(std::string_view text) {
  absl::string_view digits(text.data(), text.size());
  Digest digest;
  if (!absl::StartsWith(digits, kScheme)) return std::nullopt;
  digits.remove_prefix(kScheme.size());
  if (digits.size() != 2 * digest.size() || !std::all_of(digits.begin(), digits.end(), absl::ascii_isxdigit)) {
    return std::nullopt;
  }
  const std::string bytes = absl::HexStringToBytes(digits);
  std::copy(bytes.begin(), bytes.end(), digest.begin());
  return digest;
}

bool EqualInConstantTime(const Digest& a, const Digest& b) { return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

absl::Status HashToken(std::istream& in, std::ostream& out) {
  std::string token;
  std::getline(in, token);
  if (!token.empty() && token.back() == '\r') token.pop_back();
  const bool printable = std::all_of(token.begin(), token.end(), absl::ascii_isgraph);
  if (token.size() < kShortestToken || !printable) {
    return absl::InvalidArgumentError(
        absl::StrCat("token of ", token.size(), " bytes on standard input: must be at least ", kShortestToken,
                     " printable ASCII characters without spaces; `openssl rand -hex 32` makes a good one"));
  }
  out << FormatDigest(DigestOf(token)) << "\n";
  out.flush();
  if (!out) return absl::UnavailableError("standard output cannot be written");
  return absl::OkStatus();
}

}  // namespace fidelio
