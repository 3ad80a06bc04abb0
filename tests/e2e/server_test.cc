// The program fidelio-server, from the outside: the main job, crashes, signals, checks and backups.
#include <signal.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/e2e/server_process.h"
#include "tests/support/temp_directory.h"

namespace fidelio {
namespace {

namespace fs = std::filesystem;

void Expect(const grpc::Status& status) { EXPECT_TRUE(status.ok()) << status.error_message(); }

class Context : public grpc::ClientContext {
 public:
  Context() { set_deadline(absl::ToChronoTime(absl::Now() + absl::Minutes(2))); }
};

v1::Matrix Column(const std::vector<double>& values) {
  v1::Matrix matrix;
  matrix.set_rows(static_cast<uint32_t>(values.size()));
  matrix.set_cols(1);
  matrix.mutable_values()->mutable_values()->Add(values.begin(), values.end());
  return matrix;
}

void CreateAndObserve(v1::Emulator::Stub& stub) {
  v1::CreateModelRequest create;
  create.set_model_id("wing");
  create.mutable_model()->set_description("a needle in the model's rows");
  create.mutable_model()->set_input_dimension(1);
  create.mutable_model()->add_fidelities()->set_name("coarse");
  create.mutable_model()->add_fidelities()->set_name("fine");
  v1::Model model;
  Context create_context;
  Expect(stub.CreateModel(&create_context, create, &model));

  v1::AddObservationsRequest observe;
  observe.set_model("models/wing");
  observe.set_request_id("first");
  for (const int n : {8, 4}) {
    std::vector<double> x, y;
    for (int i = 0; i < n; ++i) {
      x.push_back(i / (n - 1.0));
      y.push_back(std::sin(8 * x.back()) + (n == 4 ? 0.3 * x.back() : 0.0));
    }
    v1::ObservationBatch* batch = observe.add_observations();
    batch->set_level(n == 8 ? 0 : 1);
    *batch->mutable_inputs() = Column(x);
    *batch->mutable_outputs() = Column(y);
  }
  v1::AddObservationsResponse answer;
  Context context;
  Expect(stub.AddObservations(&context, observe, &answer));
}

v1::Fit StartFit(v1::Emulator::Stub& stub, int64_t iterations) {
  v1::FitRequest request;
  request.set_model("models/wing");
  request.mutable_options()->mutable_budget()->set_iterations(iterations);
  v1::Fit fit;
  Context context;
  Expect(stub.Fit(&context, request, &fit));
  return fit;
}

v1::Fit WatchToTheEnd(v1::Emulator::Stub& stub, const std::string& name) {
  v1::WatchFitRequest request;
  request.set_name(name);
  Context context;
  const auto reader = stub.WatchFit(&context, request);
  v1::WatchFitResponse event;
  while (reader->Read(&event)) {
  }
  Expect(reader->Finish());
  return event.fit();
}

// The bits of predictions.
std::string Predict(v1::Emulator::Stub& stub) {
  v1::PredictRequest request;
  request.set_model("models/wing");
  *request.mutable_inputs() = Column({0.05, 0.4, 0.95, 1.2});
  request.mutable_options()->add_quantiles(0.05);
  v1::PredictResponse answer;
  Context context;
  Expect(stub.Predict(&context, request, &answer));
  return answer.SerializeAsString();
}

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
    ServerProcess server(directory / "data");
    CreateAndObserve(server.stub());
    const v1::Fit fit = WatchToTheEnd(server.stub(), StartFit(server.stub(), 40).name());
    ASSERT_EQ(fit.state(), v1::FIT_STATE_SUCCEEDED) << fit.DebugString();
    before = Predict(server.stub());
    server.Signal(SIGKILL);
    EXPECT_EQ(server.Wait(), -SIGKILL);
  }
  ServerProcess server(directory / "data");
  EXPECT_TRUE(absl::StrContains(server.AwaitLine(" listening "), "models=1"));
  EXPECT_EQ(Predict(server.stub()), before);
  v1::ListFitsRequest request;
  request.set_parent("models/wing");
  v1::ListFitsResponse fits;
  Context context;
  Expect(server.stub().ListFits(&context, request, &fits));
  EXPECT_EQ(fits.fits_size(), 1);
}

TEST(ServerTest, AFitThatAKillInterruptsGoesOnByItself) {
  const TempDirectory directory;
  std::string name;
  {
    ServerProcess server(directory / "data", {"--checkpoint-seconds", "0.05"});
    CreateAndObserve(server.stub());
    name = StartFit(server.stub(), 100'000).name();
    v1::WatchFitRequest request;
    request.set_name(name);
    Context context;
    const auto reader = server.stub().WatchFit(&context, request);
    v1::WatchFitResponse event;
    while (reader->Read(&event) && event.fit().progress().iteration() < 3) {
    }
    server.Signal(SIGKILL);
    server.Wait();
  }
  ServerProcess server(directory / "data");
  const v1::Fit fit = WatchToTheEnd(server.stub(), name);
  EXPECT_EQ(fit.state(), v1::FIT_STATE_SUCCEEDED) << fit.DebugString();
}

TEST(ServerTest, SigtermAndSigintEndWithinTheGracePeriodWhileAFitRuns) {
  for (const int number : {SIGTERM, SIGINT}) {
    const TempDirectory directory;
    ServerProcess server(directory / "data", {"--grace-seconds", "20"});
    CreateAndObserve(server.stub());
    StartFit(server.stub(), 100'000);
    const absl::Time start = absl::Now();
    server.Signal(number);
    EXPECT_EQ(server.Wait(), 0);
    EXPECT_LT(absl::Now() - start, absl::Seconds(20));
    EXPECT_FALSE(server.AwaitLine("stopped").empty());
  }
}

TEST(ServerTest, ASecondSignalEndsItAtOnceAndLosesNothing) {
  const TempDirectory directory;
  {
    ServerProcess server(directory / "data");
    CreateAndObserve(server.stub());
    // Both signals are there before the process can act upon the first.
    server.Signal(SIGSTOP);
    server.Signal(SIGINT);
    server.Signal(SIGTERM);
    server.Signal(SIGCONT);
    EXPECT_EQ(server.Wait(), 128 + SIGTERM);
    EXPECT_FALSE(server.AwaitLine("exits at once").empty());
  }
  ServerProcess server(directory / "data");
  v1::GetModelRequest request;
  request.set_name("models/wing");
  v1::Model model;
  Context context;
  Expect(server.stub().GetModel(&context, request, &model));
  EXPECT_EQ(model.observation_counts(0), 8);
}

TEST(ServerTest, ASecondServerOfTheSameDirectoryIsRefused) {
  const TempDirectory directory;
  ServerProcess server(directory / "data");
  const CommandResult second =
      RunServerCommand({"--listen", "127.0.0.1:0", "--data-dir", directory / "data", "--metrics-address", "off"});
  EXPECT_EQ(second.code, 1);
  EXPECT_TRUE(absl::StrContains(second.output, "in use by another server")) << second.output;
}

TEST(ServerTest, CheckFindsAFlippedBit) {
  const TempDirectory directory;
  {
    ServerProcess server(directory / "data");
    CreateAndObserve(server.stub());
    server.Signal(SIGTERM);
    EXPECT_EQ(server.Wait(), 0);
  }
  const CommandResult good = RunServerCommand({"--check", "--data-dir", directory / "data"});
  EXPECT_EQ(good.code, 0) << good.output;
  FlipBit(directory / "data/fidelio.db", "a needle in the model's rows");
  const CommandResult bad = RunServerCommand({"--check", "--data-dir", directory / "data"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_TRUE(absl::StrContains(bad.output, "models/wing: ")) << bad.output;
  const CommandResult nothing = RunServerCommand({"--check", "--data-dir", directory / "empty"});
  EXPECT_EQ(nothing.code, 1);
  EXPECT_FALSE(fs::exists(directory / "empty"));
}

TEST(ServerTest, ABackupOfARunningServerRestoresItsModels) {
  const TempDirectory directory;
  std::string before;
  {
    ServerProcess server(directory / "data");
    CreateAndObserve(server.stub());
    WatchToTheEnd(server.stub(), StartFit(server.stub(), 40).name());
    before = Predict(server.stub());
    const CommandResult copy = RunServerCommand({"--backup", directory / "copy.db", "--data-dir", directory / "data"});
    EXPECT_EQ(copy.code, 0) << copy.output;
    const CommandResult again = RunServerCommand({"--backup", directory / "copy.db", "--data-dir", directory / "data"});
    EXPECT_EQ(again.code, 1) << again.output;
  }
  const CommandResult offline = RunServerCommand({"--backup", directory / "late.db", "--data-dir", directory / "data"});
  EXPECT_EQ(offline.code, 0) << offline.output;
  fs::create_directory(directory / "restored");
  fs::copy(directory / "copy.db", directory / "restored/fidelio.db");
  ServerProcess server(directory / "restored");
  EXPECT_EQ(Predict(server.stub()), before);
}

TEST(ServerTest, TellsItsVersionItsConfigurationAndAllMistakesInIt) {
  EXPECT_EQ(RunServerCommand({"--version"}).code, 0);
  const CommandResult config = RunServerCommand({"--print-config", "--fit-workers", "3"});
  EXPECT_EQ(config.code, 0);
  EXPECT_TRUE(absl::StrContains(config.output, "fit_workers = 3")) << config.output;
  const CommandResult bad = RunServerCommand({"--fit-workers", "0", "--listen", "0.0.0.0:1"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_TRUE(absl::StrContains(bad.output, "fit-workers")) << bad.output;
  EXPECT_TRUE(absl::StrContains(bad.output, "listen")) << bad.output;
  const CommandResult digest = RunServerCommand({"--hash-token"}, "a-token-of-at-least-20-characters\n");
  EXPECT_EQ(digest.code, 0);
  EXPECT_TRUE(absl::StartsWith(digest.output, "sha256:")) << digest.output;
}

}  // namespace
}  // namespace fidelio
