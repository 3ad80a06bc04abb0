// The program fidelio-server, from the outside: the main job, crashes, signals, checks and backups.
#include <signal.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/e2e/e2e_server.h"

namespace fidelio {
namespace {

namespace fs = std::filesystem;

void FlipBit(const std::string& path, const std::string& text) {
  std::string bytes;
  {
    std::ifstream in(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  const size_t place = bytes.find(text);
  ASSERT_NE(place, std::string::npos);
  bytes[place] ^= 1;
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(ServerTest, PredictsTheSameBitsAfterAKillWithoutARefit) {
  const TempDirectory directory;
  std::string before;
  {
    E2eServer server(directory / "data");
    CreateAndObserve(server.stub());
    const v1::Fit fit = WatchToTheEnd(server.stub(), StartFit(server.stub(), 40).name());
    ASSERT_EQ(fit.state(), v1::FIT_STATE_SUCCEEDED) << fit.DebugString();
    before = Predict(server.stub());
    server.process().Signal(SIGKILL);
    EXPECT_EQ(server.process().Wait(), -SIGKILL);
  }
  E2eServer server(directory / "data");
  EXPECT_TRUE(absl::StrContains(server.process().Output(), "models=1")) << server.process().Output();
  EXPECT_EQ(Predict(server.stub()), before);
  v1::ListFitsRequest request;
  request.set_parent("models/wing");
  v1::ListFitsResponse fits;
  Context context;
  ExpectOk(server.stub().ListFits(&context, request, &fits));
  EXPECT_EQ(fits.fits_size(), 1);
}

TEST(ServerTest, AFitThatAKillInterruptsGoesOnByItself) {
  const TempDirectory directory;
  std::string name;
  {
    E2eServer server(directory / "data", {"--checkpoint-seconds", "0.05"});
    CreateAndObserve(server.stub());
    name = StartFit(server.stub(), 100'000).name();
    v1::WatchFitRequest request;
    request.set_name(name);
    Context context;
    const auto reader = server.stub().WatchFit(&context, request);
    v1::WatchFitResponse event;
    while (reader->Read(&event) && event.fit().progress().iteration() < 3) {
    }
    server.process().Signal(SIGKILL);
    server.process().Wait();
  }
  E2eServer server(directory / "data");
  const v1::Fit fit = WatchToTheEnd(server.stub(), name);
  EXPECT_EQ(fit.state(), v1::FIT_STATE_SUCCEEDED) << fit.DebugString();
}

TEST(ServerTest, SigtermAndSigintEndWithinTheGracePeriodWhileAFitRuns) {
  for (const int number : {SIGTERM, SIGINT}) {
    const TempDirectory directory;
    E2eServer server(directory / "data", {"--grace-seconds", "20"});
    CreateAndObserve(server.stub());
    StartFit(server.stub(), 100'000);
    const absl::Time start = absl::Now();
    server.process().Signal(number);
    EXPECT_EQ(server.process().Wait(), 0);
    EXPECT_LT(absl::Now() - start, absl::Seconds(20));
    EXPECT_TRUE(absl::StrContains(server.process().Output(), "stopped"));
  }
}

TEST(ServerTest, ASecondSignalEndsItAtOnceAndLosesNothing) {
  const TempDirectory directory;
  {
    E2eServer server(directory / "data");
    CreateAndObserve(server.stub());
    // Both signals are there before the process can act upon the first.
    server.process().Signal(SIGSTOP);
    server.process().Signal(SIGINT);
    server.process().Signal(SIGTERM);
    server.process().Signal(SIGCONT);
    EXPECT_EQ(server.process().Wait(), 128 + SIGTERM);
    EXPECT_TRUE(absl::StrContains(server.process().Output(), "exits at once"));
  }
  E2eServer server(directory / "data");
  EXPECT_EQ(GetModel(server.stub()).observation_counts(0), 8);
}

TEST(ServerTest, ASecondServerOfTheSameDirectoryIsRefused) {
  const TempDirectory directory;
  E2eServer server(directory / "data");
  const CommandResult second =
      RunServer({"--listen", "127.0.0.1:0", "--data-dir", directory / "data", "--metrics-address", "off"});
  EXPECT_EQ(second.code, 1);
  EXPECT_TRUE(absl::StrContains(second.output, "in use by another server")) << second.output;
}

TEST(ServerTest, CheckFindsAFlippedBit) {
  const TempDirectory directory;
  {
    E2eServer server(directory / "data");
    CreateAndObserve(server.stub());
    server.process().Signal(SIGTERM);
    EXPECT_EQ(server.process().Wait(), 0);
  }
  const CommandResult good = RunServer({"--check", "--data-dir", directory / "data"});
  EXPECT_EQ(good.code, 0) << good.output;
  FlipBit(directory / "data/fidelio.db", "a needle in the model's rows");
  const CommandResult bad = RunServer({"--check", "--data-dir", directory / "data"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_TRUE(absl::StrContains(bad.output, "models/wing: ")) << bad.output;
  const CommandResult nothing = RunServer({"--check", "--data-dir", directory / "empty"});
  EXPECT_EQ(nothing.code, 1);
  EXPECT_FALSE(fs::exists(directory / "empty"));
}

TEST(ServerTest, ABackupOfARunningServerRestoresItsModels) {
  const TempDirectory directory;
  std::string before;
  {
    E2eServer server(directory / "data");
    CreateAndObserve(server.stub());
    WatchToTheEnd(server.stub(), StartFit(server.stub(), 40).name());
    before = Predict(server.stub());
    const CommandResult copy = RunServer({"--backup", directory / "copy.db", "--data-dir", directory / "data"});
    EXPECT_EQ(copy.code, 0) << copy.output;
    const CommandResult again = RunServer({"--backup", directory / "copy.db", "--data-dir", directory / "data"});
    EXPECT_EQ(again.code, 1) << again.output;
  }
  const CommandResult offline = RunServer({"--backup", directory / "late.db", "--data-dir", directory / "data"});
  EXPECT_EQ(offline.code, 0) << offline.output;
  fs::create_directory(directory / "restored");
  fs::copy(directory / "copy.db", directory / "restored/fidelio.db");
  E2eServer server(directory / "restored");
  EXPECT_EQ(Predict(server.stub()), before);
}

TEST(ServerTest, AProbeTellsWhetherItIsReady) {
  const TempDirectory directory;
  std::string address;
  {
    E2eServer server(directory / "data", {"--metrics-address", "127.0.0.1:0"});
    const std::string log = server.process().Output();
    constexpr char kBefore[] = "HTTP address=";
    const size_t begin = log.find(kBefore);
    ASSERT_NE(begin, std::string::npos) << log;
    address = log.substr(begin + strlen(kBefore));
    address = address.substr(0, address.find_first_of(" \n"));
    const CommandResult ready = RunServer({"--probe", "--metrics-address", address});
    EXPECT_EQ(ready.code, 0) << ready.output;
    EXPECT_EQ(ready.output, "ready\n");
  }
  const CommandResult gone = RunServer({"--probe", "--metrics-address", address});
  EXPECT_EQ(gone.code, 1);
  EXPECT_TRUE(absl::StrContains(gone.output, address)) << gone.output;
  const CommandResult off = RunServer({"--probe", "--metrics-address", "off"});
  EXPECT_EQ(off.code, 1);
  EXPECT_TRUE(absl::StrContains(off.output, "metrics_address")) << off.output;
}

TEST(ServerTest, TellsItsVersionItsConfigurationAndAllMistakesInIt) {
  EXPECT_EQ(RunServer({"--version"}).code, 0);
  const CommandResult config = RunServer({"--print-config", "--fit-workers", "3"});
  EXPECT_EQ(config.code, 0);
  EXPECT_TRUE(absl::StrContains(config.output, "fit_workers = 3")) << config.output;
  setenv("FIDELIO_FIT_WORKER", "3", /*overwrite=*/1);  // lacks an s
  const CommandResult mistyped = RunServer({"--print-config"});
  unsetenv("FIDELIO_FIT_WORKER");
  EXPECT_EQ(mistyped.code, 0);
  EXPECT_TRUE(absl::StrContains(mistyped.output, "FIDELIO_FIT_WORKER is not a setting")) << mistyped.output;
  const CommandResult bad = RunServer({"--fit-workers", "0", "--listen", "0.0.0.0:1"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_TRUE(absl::StrContains(bad.output, "fit-workers")) << bad.output;
  EXPECT_TRUE(absl::StrContains(bad.output, "listen")) << bad.output;
  const CommandResult digest = RunServer({"--hash-token"}, "a-token-of-at-least-20-characters\n");
  EXPECT_EQ(digest.code, 0);
  EXPECT_TRUE(absl::StartsWith(digest.output, "sha256:")) << digest.output;
}

}  // namespace
}  // namespace fidelio
