// The server's verdict on a model (v1::Verdict) for people: a word, and how good the news is.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CLI_VERDICT_H_
#define FIDELIO_CLIENT_CLI_VERDICT_H_

#include <optional>
#include <string>

#include "fidelio/v1/design.pb.h"

namespace fidelio::cli {

enum class VerdictTone { kGood, kNeutral, kBad };

// Good: CALIBRATED and CAUTIOUS without warnings. Bad: OVERCONFIDENT. Neutral: all others, and verdicts that this program
// does not know.
VerdictTone ToneOf(const v1::Verdict& verdict);

// "Calibrated"
std::string VerdictTitle(const v1::Verdict& verdict);

// The title with the text, and a line for each warning. Absent: that the server gives none.
std::string VerdictText(const std::optional<v1::Verdict>& verdict);

inline constexpr char kNoVerdict[] = "This server gives no verdict; a newer one does.";

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_VERDICT_H_
