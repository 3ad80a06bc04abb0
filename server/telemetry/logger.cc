#include "server/telemetry/logger.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/telemetry/escape.h"

namespace fidelio {
namespace {

constexpr char kTextPattern[] = "%Y-%m-%dT%H:%M:%S.%eZ %l %v";
constexpr char kJsonPattern[] = R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})";

spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      break;
  }
  return spdlog::level::err;
}

bool IsBareCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         absl::string_view("_-+./:@[]").find(c) != std::string::npos;
}

void AppendValue(const LogField& field, bool json, std::string& line) {
  if (const auto* text = std::get_if<std::string_view>(&field.value)) {
    const std::string escaped = EscapeForLog(*text);
    const bool bare = !json && !escaped.empty() && std::all_of(escaped.begin(), escaped.end(), IsBareCharacter);
    absl::StrAppend(&line, bare ? "" : "\"", escaped, bare ? "" : "\"");
  } else if (const auto* number = std::get_if<double>(&field.value)) {
    // JSON knows no infinity, nor what is not a number.
    absl::StrAppend(&line, json && !std::isfinite(*number) ? "null" : absl::StrCat(*number));
  } else if (const auto* integer = std::get_if<int64_t>(&field.value)) {
    absl::StrAppend(&line, *integer);
  } else {
    absl::StrAppend(&line, std::get<bool>(field.value) ? "true" : "false");
  }
}

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Logger::Logger(LogFormat format, LogLevel least, std::shared_ptr<spdlog::sinks::sink> sink)
    : format_(format), logger_(std::make_unique<spdlog::logger>("fidelio", std::move(sink))) {
  logger_->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      format == LogFormat::kJson ? kJsonPattern : kTextPattern, spdlog::pattern_time_type::utc));
  logger_->set_level(SpdlogLevel(least));
  logger_->flush_on(spdlog::level::trace);
}

Logger::~Logger() = default;

std::unique_ptr<Logger> Logger::ToStderr(LogFormat format, LogLevel least) {
  return std::unique_ptr<Logger>(new Logger(format, least, std::make_shared<spdlog::sinks::stderr_sink_mt>()));
}

std::unique_ptr<Logger> Logger::ToStream(LogFormat format, LogLevel least, std::ostream& stream) {
  return std::unique_ptr<Logger>(new Logger(format, least, std::make_shared<spdlog::sinks::ostream_sink_mt>(stream)));
}

bool Logger::Logs(LogLevel level) const { return logger_->should_log(SpdlogLevel(level)); }

void Logger::Log(LogLevel level, std::string_view message, absl::Span<const LogField> fields) {
  if (!Logs(level)) return;
  const bool json = format_ == LogFormat::kJson;
  std::string line;
  if (json) {
    absl::StrAppend(&line, "\"message\":\"", EscapeForLog(message, 4096), "\"");
  } else {
    absl::StrAppend(&line, EscapeForLog(message, 4096));
  }
  for (const LogField& field : fields) {
    if (json) {
      absl::StrAppend(&line, ",\"", View(field.key), "\":");
    } else {
      absl::StrAppend(&line, " ", View(field.key), "=");
    }
    AppendValue(field, json, line);
  }
  logger_->log(SpdlogLevel(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace fidelio
