// CRC-32C (Castagnoli), the checksum of checkpoints and of stored rows. Finds every error of a single bit, and every
// burst of up to 32 bits.
#ifndef FIDELIO_CORE_BASE_CRC32C_H_
#define FIDELIO_CORE_BASE_CRC32C_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/base/export.h"

namespace fidelio {

// The CRC of a ‖ b, where `crc` is the one of a (0 for nothing).
FIDELIO_EXPORT uint32_t ExtendCrc32c(uint32_t crc, absl::string_view b);

inline uint32_t Crc32c(absl::string_view bytes) { return ExtendCrc32c(0, bytes); }

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASE_CRC32C_H_
