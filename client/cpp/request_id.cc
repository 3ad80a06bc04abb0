#include "client/cpp/request_id.h"

#include <cstdint>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"

namespace fidelio::client {

std::string NewRequestId() {
  absl::BitGen random;  // seeded by the system's entropy
  const auto word = [&] { return absl::Hex(absl::Uniform<uint64_t>(random), absl::kZeroPad16); };
  return absl::StrCat(word(), word());
}

std::string RequestId(const CallOptions& call) { return call.request_id.empty() ? NewRequestId() : call.request_id; }

}  // namespace fidelio::client
