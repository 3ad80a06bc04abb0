// Text for people: numbers, times, names of enum values, aligned tables. And numbers for programs.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CLI_TEXT_H_
#define FIDELIO_CLIENT_CLI_TEXT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

namespace fidelio::cli {

// The shortest text that is read back as the same bits.
std::string ExactNumber(double value);

// About six digits.
std::string RoundNumber(double value);

// "95 %" for 0.95.
std::string Percent(double share);

absl::Duration ToDuration(const google::protobuf::Duration& duration);

// "0.42 s", "12.3 s", "4:05 min", "2:03:04 h".
std::string DurationText(absl::Duration duration);

// "2024-05-06 07:08:09" in UTC; "–" for no time.
std::string TimeText(const google::protobuf::Timestamp& time);

// "mf-dgp" for ("MODEL_KIND_MF_DGP", "MODEL_KIND_").
std::string EnumText(absl::string_view name, absl::string_view prefix);

// Columns that line up; the first row is the header. Display width is that of UTF-8 characters.
std::string TextTable(const std::vector<std::vector<std::string>>& rows);

// "low,high" and "1.5,2". INVALID_ARGUMENT begins with `flag`. An empty text has no entries.
absl::StatusOr<std::vector<std::string>> ParseNames(absl::string_view flag, const std::string& text);
absl::StatusOr<std::vector<double>> ParseNumbers(absl::string_view flag, const std::string& text);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_TEXT_H_
