// Reads the small files that an operator writes: settings, tokens, certificates.
#ifndef FIDELIO_SERVER_CONFIG_READ_FILE_H_
#define FIDELIO_SERVER_CONFIG_READ_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace fidelio {

// The whole of a file of at most 16 MiB. INVALID_ARGUMENT says what is wrong with it; the caller names setting and path.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_CONFIG_READ_FILE_H_
