#include "server/telemetry/call_log.h"

#include <cmath>
#include <string>

#include "absl/container/inlined_vector.h"

namespace fidelio {

LogLevel CallLogLevel(absl::StatusCode code) {
  const bool ours =
      code == absl::StatusCode::kInternal || code == absl::StatusCode::kUnknown || code == absl::StatusCode::kDataLoss;
  return ours ? LogLevel::kError : LogLevel::kInfo;
}

void LogCall(Logger& logger, const CallRecord& call) {
  const LogLevel level = CallLogLevel(call.code);
  if (!logger.Logs(level)) return;
  const std::string code = absl::StatusCodeToString(call.code);
  absl::InlinedVector<LogField, 9> fields;
  fields.emplace_back("method", call.method);
  if (!call.model.empty()) fields.emplace_back("model", call.model);
  fields.emplace_back("code", code);
  fields.emplace_back("ms", std::round(call.milliseconds * 1000) / 1000);
  fields.emplace_back("bytes_in", call.bytes_in);
  fields.emplace_back("bytes_out", call.bytes_out);
  if (!call.token.empty()) fields.emplace_back("token", call.token);
  if (!call.peer.empty()) fields.emplace_back("peer", call.peer);
  if (!call.error.empty()) fields.emplace_back("error", call.error);
  logger.Log(level, "call", fields);
}

}  // namespace fidelio
