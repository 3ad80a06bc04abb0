// SHA-256 of bytes.
#ifndef FIDELIO_SERVER_STORE_SHA256_H_
#define FIDELIO_SERVER_STORE_SHA256_H_

#include <string>

#include "absl/strings/string_view.h"

namespace fidelio {

std::string Sha256(absl::string_view bytes);  // 32 bytes

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_SHA256_H_
