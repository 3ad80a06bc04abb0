// Pages of lists: sizes, and tokens that say where the next page begins.
//
// A token is opaque to clients: base64url of a version, a checksum and a cursor. The checksum covers the scope of the
// list (its method, its parent, its filters), so that a token that was changed, or belongs to another list, is
// INVALID_ARGUMENT. It is no secret: a cursor must not grant anything, and whoever reads one checks it as any other
// input.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_SERVER_RPC_PAGE_H_
#define FIDELIO_SERVER_RPC_PAGE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace fidelio {

// `scope` as in "ListFits models/wing". The cursor has at most 512 bytes and is not empty.
std::string EncodePageToken(absl::string_view scope, absl::string_view cursor);

// The cursor; empty for an empty token, the first page. Errors begin with "page_token: ".
absl::StatusOr<std::string> DecodePageToken(absl::string_view scope, absl::string_view token);

// INVALID_ARGUMENT for a token whose cursor its reader does not understand.
absl::Status BadTokenError(absl::string_view token);

// The same as DecodePageToken for lists whose cursors are numbers above 0; 0 for an empty token.
absl::StatusOr<int64_t> DecodeNumberToken(absl::string_view scope, absl::string_view token);

// A page ends early when its entries take more bytes: answers stay below the 4 MiB that clients accept by default.
inline constexpr size_t kMaxPageBytes = size_t{3} << 20;

// Entries of a page: `asked`, or `standard` when that is 0, and at most `largest`. Negative is INVALID_ARGUMENT.
absl::StatusOr<int32_t> PageSize(int32_t asked, int32_t standard, int32_t largest);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_PAGE_H_
