// SHA-256 digests of tokens.
#ifndef FIDELIO_SERVER_AUTH_DIGEST_H_
#define FIDELIO_SERVER_AUTH_DIGEST_H_

#include <array>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace fidelio {

using Digest = std::array<unsigned char, 32>;

Digest DigestOf(std::string_view bytes);

// "sha256:" and 64 hexadecimal digits. The parser takes digits of either case.
std::string FormatDigest(const Digest& digest);
std::optional<Digest> ParseDigest(std::string_view text);

// Whether they are equal, in a time that does not depend on where they differ.
bool EqualInConstantTime(const Digest& a, const Digest& b);

// Reads a token from the first line of `in` and writes its digest to `out`: what --hash-token does. INVALID_ARGUMENT for a
// token that could be guessed or could not be sent as metadata: shorter than 20 characters, or with others than printable
// ASCII ones.
absl::Status HashToken(std::istream& in, std::ostream& out);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_AUTH_DIGEST_H_
