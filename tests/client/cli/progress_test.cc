#include "client/cli/progress.h"

#include <algorithm>
#include <sstream>

#include "gtest/gtest.h"
#include "tests/client/support/fake_emulator.h"

namespace fidelio::cli {
namespace {

v1::Fit Running(double fraction, const std::string& phase = "sample") {
  v1::Fit fit = MakeFit(v1::FIT_STATE_RUNNING, fraction);
  fit.mutable_progress()->set_phase(phase);
  fit.mutable_progress()->set_iteration(12);
  fit.mutable_progress()->set_elbo(-3.25);
  fit.mutable_progress()->mutable_elapsed()->set_seconds(2);
  fit.mutable_progress()->mutable_eta()->set_seconds(6);
  return fit;
}

TEST(ProgressTest, ABarTellsAllThatIsKnown) {
  EXPECT_EQ(ProgressBar(Running(0.25), 200),
            "[######------------------]  25 %  sample, iteration 12, objective -3.25, 2.00 s, about 6.00 s to go");
}

TEST(ProgressTest, ABarFitsItsTerminal) {
  // What is shown is whole, and ends with how long it will take.
  EXPECT_EQ(ProgressBar(Running(0.25), 90),
            "[###-----------]  25 %  sample, iteration 12, objective -3.25, 2.00 s, about 6.00 s to go");
  EXPECT_EQ(ProgressBar(Running(0.25), 80),
            "[####--------------]  25 %  sample, objective -3.25, 2.00 s, about 6.00 s to go");
  EXPECT_EQ(ProgressBar(Running(0.25), 50), "[###----------]  25 %  sample, about 6.00 s to go");
  EXPECT_EQ(ProgressBar(Running(7), 33), "[################] 100 %  sample");
  v1::Fit large = Running(0.25, "optimise");
  large.mutable_progress()->set_iteration(1234);
  large.mutable_progress()->set_elbo(-123.456);
  EXPECT_EQ(ProgressBar(large, 100),
            "[####-------------]  25 %  optimise, iteration 1234, objective -123.456, 2.00 s, about 6.00 s to go");
  for (int width = 45; width < 130; ++width) {
    const std::string bar = ProgressBar(Running(0.25), width);
    EXPECT_LT(static_cast<int>(bar.size()), width);
    EXPECT_TRUE(bar.ends_with("about 6.00 s to go")) << bar;
  }
}

TEST(ProgressTest, AFitInTheQueueTellsHowManyAreAhead) {
  v1::Fit fit = MakeFit(v1::FIT_STATE_PENDING);
  EXPECT_EQ(ProgressLine(fit), "  0 %  waiting");
  fit.set_queue_position(2);
  EXPECT_EQ(ProgressLine(fit), "  0 %  waiting, 2 ahead");
}

TEST(ProgressTest, WithoutATerminalLinesAreFewAndPlain) {
  std::ostringstream out;
  ProgressPrinter printer(out, 0);
  for (int i = 0; i < 1000; ++i) printer.Show(Running(i / 1000.0));
  printer.Clear();
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  printer.Show(Running(0.999, "finish"));
  EXPECT_NE(out.str().find("finish"), std::string::npos);
}

TEST(ProgressTest, TerminalsSeeHowLongTheServerIsWaitedFor) {
  std::ostringstream out, plain;
  {
    ProgressPrinter printer(out, 80);
    printer.ShowWaiting(absl::Seconds(590));
    EXPECT_EQ(out.str(), "\r\x1b[Kwaiting for the server, 9:50 min left");
  }
  EXPECT_TRUE(out.str().ends_with("left\r\x1b[K")) << out.str();
  ProgressPrinter(plain, 0).ShowWaiting(absl::Seconds(590));
  EXPECT_EQ(plain.str(), "");
}

TEST(ProgressTest, OnATerminalTheBarIsRedrawnAndTakenAwayAtTheEnd) {
  std::ostringstream out;
  {
    ProgressPrinter printer(out, 80);
    printer.Show(Running(0.1));
    printer.Show(Running(0.2));
    EXPECT_EQ(out.str().find('\n'), std::string::npos);
    printer.Note("connection lost");
  }
  EXPECT_TRUE(out.str().ends_with("\r\x1b[Kconnection lost\n")) << out.str();
}

}  // namespace
}  // namespace fidelio::cli
