#include "client/cli/verdict.h"

#include "absl/strings/str_cat.h"

namespace fidelio::cli {

VerdictTone ToneOf(const v1::Verdict& verdict) {
  if (verdict.kind() == v1::VERDICT_KIND_OVERCONFIDENT) return VerdictTone::kBad;
  const bool good = verdict.kind() == v1::VERDICT_KIND_CALIBRATED || verdict.kind() == v1::VERDICT_KIND_CAUTIOUS;
  return good && verdict.warnings().empty() ? VerdictTone::kGood : VerdictTone::kNeutral;
}

std::string VerdictTitle(const v1::Verdict& verdict) {
  switch (verdict.kind()) {
    case v1::VERDICT_KIND_TOO_FEW:
      return "Too few observations";
    case v1::VERDICT_KIND_OVERCONFIDENT:
      return "Overconfident";
    case v1::VERDICT_KIND_UNINFORMATIVE:
      return "Uninformative";
    case v1::VERDICT_KIND_CAUTIOUS:
      return "Cautious";
    case v1::VERDICT_KIND_CALIBRATED:
      return "Calibrated";
    default:
      return "Verdict";
  }
}

std::string VerdictText(const std::optional<v1::Verdict>& verdict) {
  if (!verdict.has_value()) return kNoVerdict;
  std::string text = absl::StrCat(VerdictTitle(*verdict), ": ", verdict->text());
  for (const std::string& warning : verdict->warnings()) absl::StrAppend(&text, "\nwarning: ", warning);
  return text;
}

}  // namespace fidelio::cli
