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

constexpr int kBarWidth = 24, kLeastBarWidth = 8;

double Fraction(const v1::Fit& fit) {
  const double fraction = fit.progress().fraction();
  return std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
}

// " 25 %  sample, iteration 12"
std::string Line(double fraction, const ProgressFacts& facts) {
  return absl::StrFormat("%3d %%  %s", static_cast<int>(100 * fraction), absl::StrJoin(facts, ", "));
}

int Columns(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// What of a line fits into a terminal. The last column stays free, so that no terminal wraps. Cut between characters.
std::string Cut(const std::string& line, int width) {
  std::string cut;
  int columns = 0;
  for (const char c : line) {
    if ((c & 0xC0) != 0x80 && ++columns >= width) break;
    cut.push_back(c);
  }
  return cut;
}

// In a narrow terminal the bar is shorter; then facts are left out, from the second on. The last one goes last: it says
// how long it will take.
std::string Bar(double fraction, ProgressFacts facts, int width) {
  constexpr int kFrame = 3;  // "[", "] "
  const auto room = [&] { return width - 1 - kFrame - Columns(Line(fraction, facts)); };
  while (facts.size() > 1 && room() < kLeastBarWidth) facts.erase(facts.begin() + 1);
  const int bar = std::clamp(room(), kLeastBarWidth, kBarWidth);
  const int full = static_cast<int>(bar * fraction);
  return Cut(absl::StrCat("[", std::string(full, '#'), std::string(bar - full, '-'), "] ", Line(fraction, facts)),
             width);
}

ProgressFacts Facts(const v1::Fit& fit) {
  const v1::FitProgress& progress = fit.progress();
  if (fit.state() == v1::FIT_STATE_PENDING) {
    return {fit.queue_position() > 0 ? absl::StrCat("waiting, ", fit.queue_position(), " ahead") : "waiting"};
  }
  ProgressFacts facts;
  if (!progress.phase().empty()) facts.push_back(progress.phase());
  facts.push_back(absl::StrCat("iteration ", progress.iteration()));
  if (progress.has_elbo()) facts.push_back(absl::StrCat("objective ", RoundNumber(progress.elbo())));
  facts.push_back(DurationText(ToDuration(progress.elapsed())));
  if (fit.resume_count() > 0) facts.push_back(absl::StrCat("resumed ", fit.resume_count(), "×"));
  if (progress.has_eta() && fit.state() == v1::FIT_STATE_RUNNING)
    facts.push_back(absl::StrCat("about ", DurationText(ToDuration(progress.eta())), " to go"));
  return facts;
}

}  // namespace

std::string ProgressLine(const v1::Fit& fit) { return Line(Fraction(fit), Facts(fit)); }

std::string ProgressBar(const v1::Fit& fit, int width) { return Bar(Fraction(fit), Facts(fit), width); }

void ProgressPrinter::Put(double fraction, const ProgressFacts& facts, const std::string& key) {
  if (width_ > 0) {
    out_ << "\r\x1b[K" << Bar(fraction, facts, width_) << std::flush;
    drawn_ = true;
  } else if (key != last_key_) {
    last_key_ = key;
    out_ << Line(fraction, facts) << std::endl;
  }
}

void ProgressPrinter::Show(const v1::Fit& fit) {
  Put(Fraction(fit), Facts(fit),
      absl::StrCat(fit.state(), " ", fit.progress().phase(), " ", static_cast<int>(10 * Fraction(fit)), " ",
                   fit.resume_count(), " ", fit.queue_position()));
}

void ProgressPrinter::ShowCount(const std::string& what, int64_t done, int64_t total) {
  const std::string facts =
      absl::StrCat(done, total >= 0 ? absl::StrCat(" of ", total) : "", " ", what, done == 1 && total < 0 ? "" : "s");
  if (total < 0) {
    // Without an end there is no bar, and a line for every doubling.
    if (width_ > 0) {
      out_ << "\r\x1b[K" << facts << std::flush;
      drawn_ = true;
    } else if (const std::string key = absl::StrCat(static_cast<int>(std::log2(static_cast<double>(done))));
               key != last_key_) {
      last_key_ = key;
      out_ << facts << std::endl;
    }
    return;
  }
  const double fraction = total > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0) : 1;
  Put(fraction, {facts}, absl::StrCat(static_cast<int>(10 * fraction)));
}

void ProgressPrinter::ShowWaiting(absl::Duration left) {
  if (width_ == 0) return;
  out_ << "\r\x1b[K" << Cut(absl::StrCat("waiting for the server, ", DurationText(left), " left"), width_)
       << std::flush;
  drawn_ = true;
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
