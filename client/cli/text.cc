#include "client/cli/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace fidelio::cli {
namespace {

size_t Width(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

}  // namespace

std::string ExactNumber(double value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, result.ptr);
}

std::string RoundNumber(double value) { return absl::StrFormat("%.6g", value); }

absl::Duration ToDuration(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

std::string Percent(double share) { return absl::StrFormat("%.4g %%", 100 * share); }

std::string DurationText(absl::Duration duration) {
  const double seconds = absl::ToDoubleSeconds(duration);
  if (seconds < 9.995) return absl::StrFormat("%.2f s", seconds);
  if (seconds < 59.95) return absl::StrFormat("%.1f s", seconds);
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 3600) return absl::StrFormat("%d:%02d min", whole / 60, whole % 60);
  return absl::StrFormat("%d:%02d:%02d h", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string TimeText(const google::protobuf::Timestamp& time) {
  if (time.seconds() == 0 && time.nanos() == 0) return "–";
  return absl::FormatTime("%Y-%m-%d %H:%M:%S", absl::FromUnixSeconds(time.seconds()), absl::UTCTimeZone());
}

std::string EnumText(absl::string_view name, absl::string_view prefix) {
  return absl::StrReplaceAll(absl::AsciiStrToLower(absl::StripPrefix(name, prefix)), {{"_", "-"}});
}

std::string TextTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t j = 0; j < row.size(); ++j) widths[j] = std::max(widths[j], Width(row[j]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t j = 0; j < row.size(); ++j) {
      absl::StrAppend(&line, row[j], std::string(widths[j] - Width(row[j]) + 2, ' '));
    }
    absl::StrAppend(&out, absl::StripTrailingAsciiWhitespace(line), "\n");
  }
  return out;
}

absl::StatusOr<std::vector<std::string>> ParseNames(absl::string_view flag, const std::string& text) {
  std::vector<std::string> names;
  if (text.empty()) return names;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    names.emplace_back(absl::StripAsciiWhitespace(part));
    if (names.back().empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(flag, ": entry ", names.size(), " of \"", text, "\" is empty; entries are separated by commas"));
    }
  }
  return names;
}

absl::StatusOr<std::vector<double>> ParseNumbers(absl::string_view flag, const std::string& text) {
  const auto names = ParseNames(flag, text);
  if (!names.ok()) return names.status();
  std::vector<double> numbers;
  for (const std::string& name : *names) {
    double value = 0;
    if (!absl::SimpleAtod(name, &value) || !std::isfinite(value)) {
      return absl::InvalidArgumentError(absl::StrCat(flag, ": \"", name, "\" is not a finite number"));
    }
    numbers.push_back(value);
  }
  return numbers;
}

}  // namespace fidelio::cli
