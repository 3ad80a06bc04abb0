// One log line per call.
#ifndef FIDELIO_SERVER_TELEMETRY_CALL_LOG_H_
#define FIDELIO_SERVER_TELEMETRY_CALL_LOG_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "server/telemetry/logger.h"

namespace fidelio {

struct CallRecord {
  std::string_view method = {};  // "Predict"
  std::string_view model = {};   // as the client wrote it; empty when the call has none
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string_view error = {};  // message of the status
  double milliseconds = 0;
  int64_t bytes_in = 0;
  int64_t bytes_out = 0;
  std::string_view token = {};  // name of the token, never the token
  std::string_view peer = {};
};

// Errors of the server (INTERNAL, UNKNOWN, DATA_LOSS) are logged as errors, everything else as info.
LogLevel CallLogLevel(absl::StatusCode code);

// Thread-safe.
void LogCall(Logger& logger, const CallRecord& call);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_TELEMETRY_CALL_LOG_H_
