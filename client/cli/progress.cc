#include "client/cli/progress.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/text.h"

namespace fidelio::cli {
namespace {

constexpr int kBarWidth = 24;

double Fraction(const v1::Fit& fit) {
  const double fraction = fit.progress().fraction();
  return std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
}

int Percent(const v1::Fit& fit) { return static_cast<int>(100 * Fraction(fit)); }

std::string Facts(const v1::Fit& fit) {
  const v1::FitProgress& progress = fit.progress();
  if (fit.state() == v1::FIT_STATE_PENDING) {
    return fit.queue_position() > 0 ? absl::StrCat("waiting, ", fit.queue_position(), " ahead") : "waiting";
  }
  std::vector<std::string> facts;
  if (!progress.phase().empty()) facts.push_back(progress.phase());
  facts.push_back(absl::StrCat("iteration ", progress.iteration()));
  if (progress.has_elbo()) facts.push_back(absl::StrCat("objective ", RoundNumber(progress.elbo())));
  facts.push_back(DurationText(ToDuration(progress.elapsed())));
  if (progress.has_eta() && fit.state() == v1::FIT_STATE_RUNNING)
    facts.push_back(absl::StrCat("about ", DurationText(ToDuration(progress.eta())), " to go"));
  if (fit.resume_count() > 0) facts.push_back(absl::StrCat("resumed ", fit.resume_count(), "×"));
  return absl::StrJoin(facts, ", ");
}

}  // namespace

std::string ProgressLine(const v1::Fit& fit) { return absl::StrFormat("%3d %%  %s", Percent(fit), Facts(fit)); }

std::string ProgressBar(const v1::Fit& fit, int width) {
  const int full = static_cast<int>(kBarWidth * Fraction(fit));
  const std::string line =
      absl::StrCat("[", std::string(full, '#'), std::string(kBarWidth - full, '-'), "] ", ProgressLine(fit));
  // The last column stays free, so that no terminal wraps. Cut between characters.
  std::string cut;
  int columns = 0;
  for (const char c : line) {
    if ((c & 0xC0) != 0x80 && ++columns >= width) break;
    cut.push_back(c);
  }
  return cut;
}

void ProgressPrinter::Show(const v1::Fit& fit) {
  if (width_ > 0) {
    out_ << "\r\x1b[K" << ProgressBar(fit, width_) << std::flush;
    drawn_ = true;
    return;
  }
  const std::string key = absl::StrCat(fit.state(), " ", fit.progress().phase(), " ", Percent(fit) / 10, " ",
                                       fit.resume_count(), " ", fit.queue_position());
  if (key == last_key_) return;
  last_key_ = key;
  out_ << ProgressLine(fit) << std::endl;
}

void ProgressPrinter::Note(const std::string& line) {
  Clear();
  out_ << line << std::endl;
}

void ProgressPrinter::Clear() {
  if (drawn_) out_ << "\r\x1b[K" << std::flush;
  drawn_ = false;
}

}  // namespace fidelio::cli
