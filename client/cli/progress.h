// ProgressPrinter: shows how far a fit or a transfer is: a bar that redraws itself on a terminal, and a few plain lines
// elsewhere.
//
// Not thread-safe.
#ifndef FIDELIO_CLIENT_CLI_PROGRESS_H_
#define FIDELIO_CLIENT_CLI_PROGRESS_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "fidelio/v1/fit.pb.h"

namespace fidelio::cli {

// What is known, in order: {"sample", "iteration 12", …}.
using ProgressFacts = std::vector<std::string>;

class ProgressPrinter {
 public:
  // `terminal_width`: columns of the terminal that `out` is, or 0 when it is none. `out` outlives this.
  ProgressPrinter(std::ostream& out, int terminal_width) : out_(out), width_(terminal_width) {}
  ~ProgressPrinter() { Clear(); }
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;

  // Without a terminal: a line when the state or the phase changes, and every tenth of the work.
  void Show(const v1::Fit& fit);

  // The same for things that are counted: "row", "byte". `total` −1: nobody knows.
  void ShowCount(const std::string& what, int64_t done, int64_t total);

  // A line about something else, such as a lost connection.
  void Note(const std::string& line);

  // On a terminal: how much longer the server is waited for. Elsewhere nothing.
  void ShowWaiting(absl::Duration left);

  // Takes the bar from the screen.
  void Clear();

 private:
  // On a terminal the bar; elsewhere the line, if its key differs from that of the line before.
  void Put(double fraction, const ProgressFacts& facts, const std::string& key);

  std::ostream& out_;
  const int width_;
  bool drawn_ = false;
  std::string last_key_;  // of the plain line before
};

// "[#####---------------]  25 %  sample, iteration 12, objective -3.2, 0.42 s, about 1.2 s to go". In narrow terminals the
// bar is shorter, and facts in the middle are left out.
std::string ProgressBar(const v1::Fit& fit, int width);

// The same without the bar: " 25 %  sample, …".
std::string ProgressLine(const v1::Fit& fit);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_PROGRESS_H_
