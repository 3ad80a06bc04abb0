// Logger: structured log lines, each a message and named values, as text or as one JSON object per line.
//
//   2026-01-31T12:00:00.000Z info fit succeeded model=wing fit=3 seconds=1.25
//   {"time":"2026-01-31T12:00:00.000Z","level":"info","message":"fit succeeded","model":"wing","fit":3,"seconds":1.25}
//
// Times are UTC. Messages and keys are the program's own words; whatever users send goes into values, which are escaped
// and cut (escape.h). Thread-safe: lines of different threads never mix.
#ifndef FIDELIO_SERVER_TELEMETRY_LOGGER_H_
#define FIDELIO_SERVER_TELEMETRY_LOGGER_H_

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <variant>

#include "absl/types/span.h"
#include "server/config/server_config.h"

namespace spdlog {
class logger;
namespace sinks {
class sink;
}  // namespace sinks
}  // namespace spdlog

namespace fidelio {

// One named value. Refers to text that must outlive the call to Log.
struct LogField {
  LogField(std::string_view name, std::string_view text) : key(name), value(text) {}
  LogField(std::string_view name, const std::string& text) : key(name), value(std::string_view(text)) {}
  LogField(std::string_view name, const char* text) : key(name), value(std::string_view(text)) {}
  LogField(std::string_view name, double number) : key(name), value(number) {}
  LogField(std::string_view name, bool truth) : key(name), value(truth) {}
  LogField(std::string_view name, std::integral auto number) : key(name), value(static_cast<int64_t>(number)) {}

  std::string_view key;
  std::variant<std::string_view, double, int64_t, bool> value;
};

class Logger {
 public:
  static std::unique_ptr<Logger> ToStderr(LogFormat format, LogLevel least);
  // For tests. `stream` must outlive the logger.
  static std::unique_ptr<Logger> ToStream(LogFormat format, LogLevel least, std::ostream& stream);
  ~Logger();

  bool Logs(LogLevel level) const;
  void Log(LogLevel level, std::string_view message, absl::Span<const LogField> fields);
  void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {}) {
    Log(level, message, absl::MakeConstSpan(fields.begin(), fields.size()));
  }

 private:
  Logger(LogFormat format, LogLevel least, std::shared_ptr<spdlog::sinks::sink> sink);

  const LogFormat format_;
  const std::unique_ptr<spdlog::logger> logger_;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_TELEMETRY_LOGGER_H_
