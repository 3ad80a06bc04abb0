#include "server/rpc/page.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/crc32c.h"
#include "core/base/status_macros.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

constexpr char kVersion = 1;
constexpr size_t kHeader = 5;  // version and checksum
constexpr size_t kMaxToken = 1024;

// The length of the scope keeps what is scope apart from what is cursor.
std::string Checksum(absl::string_view scope, absl::string_view cursor) {
  const uint32_t crc = Crc32c(absl::StrCat(scope.size(), " ", scope, cursor));
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(crc >> shift & 0xFF));
  return bytes;
}

}  // namespace

absl::Status BadTokenError(absl::string_view token) {
  return absl::InvalidArgumentError(absl::StrCat(
      "page_token: ", Quoted(token, 40),
      " is not a next_page_token of this list; pass it unchanged and with the same request, or leave it out"));
}

std::string EncodePageToken(absl::string_view scope, absl::string_view cursor) {
  return absl::WebSafeBase64Escape(absl::StrCat(absl::string_view(&kVersion, 1), Checksum(scope, cursor), cursor));
}

absl::StatusOr<std::string> DecodePageToken(absl::string_view scope, absl::string_view token) {
  if (token.empty()) return std::string();
  std::string bytes;
  if (token.size() <= kMaxToken && absl::WebSafeBase64Unescape(token, &bytes) && bytes.size() > kHeader &&
      bytes[0] == kVersion) {
    std::string cursor = bytes.substr(kHeader);
    // The same bytes in another spelling of base64 are no token of ours.
    if (EncodePageToken(scope, cursor) == token) return cursor;
  }
  return BadTokenError(token);
}

absl::StatusOr<int64_t> DecodeNumberToken(absl::string_view scope, absl::string_view token) {
  FIDELIO_ASSIGN_OR_RETURN(const std::string cursor, DecodePageToken(scope, token));
  int64_t number = 0;
  if (!cursor.empty() && (!absl::SimpleAtoi(cursor, &number) || number < 1)) return BadTokenError(token);
  return number;
}

absl::StatusOr<int32_t> PageSize(int32_t asked, int32_t standard, int32_t largest) {
  if (asked < 0) return absl::InvalidArgumentError(absl::StrCat("page_size: ", asked, ", must not be negative"));
  return std::min(asked == 0 ? standard : asked, largest);
}

}  // namespace fidelio
