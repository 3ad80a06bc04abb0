// SafeText: text of unknown origin, made fit for protobuf strings and the trailers of a call.
#ifndef FIDELIO_SERVER_RPC_TEXT_H_
#define FIDELIO_SERVER_RPC_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace fidelio {

// Valid UTF-8 of at most max_bytes ≥ 3: bytes that are not become "?", and what is cut ends with "…".
std::string SafeText(absl::string_view text, size_t max_bytes);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_TEXT_H_
