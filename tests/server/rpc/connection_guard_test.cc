// Connections that give up their calls, through real sockets.
#include "server/rpc/connection_guard.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "gtest/gtest.h"
#include "server/config/server_config.h"
#include "tests/bench/http2_client.h"
#include "tests/server/rpc/test_server.h"

namespace fidelio {
namespace {

using bench::Http2Client;

constexpr int kGivenUp = static_cast<int>(ConnectionGuard::Limits().given_up);
constexpr int kAtOnce = static_cast<int>(ServerConfig().max_concurrent_streams);
constexpr char kPredict[] = "/fidelio.v1.Emulator/Predict";
constexpr char kCheck[] = "/grpc.health.v1.Health/Check";

std::unique_ptr<Http2Client> Connect(TestServer& server) {
  auto connection = Http2Client::Connect(server.server().port());
  EXPECT_TRUE(connection.ok() && (*connection)->Greet().ok());
  return *std::move(connection);
}

// Begins and resets so many calls, unless the server ends the connection: then false.
bool GiveUp(Http2Client& connection, const char* method, int calls) {
  for (int i = 0; i < calls; ++i) {
    const auto stream = connection.StartCall(method, {});
    if (!stream.ok() || !connection.Reset(*stream).ok()) return false;
    connection.Drain();
  }
  return true;
}

// A call of health that is answered.
bool IsHealthy(Http2Client& connection) {
  const absl::Time deadline = absl::Now() + absl::Seconds(60);
  const auto stream = connection.StartCall(kCheck, {});
  return stream.ok() && connection.SendData(*stream, std::string(5, '\0'), deadline).ok() &&
         connection.AwaitEnd(*stream, deadline) && connection.data().size() == 7;
}

int CountOf(const std::string& log, const std::string& part) {
  int count = 0;
  for (size_t at = log.find(part); at != log.npos; at = log.find(part, at + 1)) ++count;
  return count;
}

TEST(ConnectionGuardTest, AConnectionThatGivesUpItsCallsIsCutOffAndOthersAreNot) {
  for (const char* method : {kPredict, kCheck, "/fidelio.v1.Emulator/WatchFit", "/fidelio.v1.Emulator/PredictStream",
                             "/fidelio.v1.Emulator/ExportModel", "/fidelio.v1.Emulator/Nothing"}) {
    TestServer server;
    const auto hostile = Connect(server), honest = Connect(server);
    EXPECT_TRUE(IsHealthy(*honest)) << method;
    EXPECT_FALSE(GiveUp(*hostile, method, 100'000)) << method;
    EXPECT_FALSE(IsHealthy(*hostile)) << method;
    EXPECT_TRUE(IsHealthy(*honest)) << method;
    EXPECT_TRUE(IsHealthy(*Connect(server))) << method;
    const std::string log = server.StopAndReadLog();
    EXPECT_EQ(CountOf(log, "connection closed"), 1) << method << ": " << log.substr(0, 1000);
    EXPECT_NE(log.find("peer=127.0.0.1:"), log.npos) << log.substr(0, 1000);
  }
}

TEST(ConnectionGuardTest, AConnectionMayGiveUpSomeCalls) {
  TestServer server;
  const auto connection = Connect(server);
  EXPECT_TRUE(GiveUp(*connection, kPredict, kGivenUp));
  EXPECT_TRUE(IsHealthy(*connection));
}

TEST(ConnectionGuardTest, CallsThatAreAnsweredDoNotCountHoweverManyTheyAre) {
  TestServer server;
  const auto connection = Connect(server);
  for (int i = 0; i < 2 * (kGivenUp + kAtOnce); ++i) ASSERT_TRUE(IsHealthy(*connection)) << i;
}

TEST(ConnectionGuardTest, StreamsAndWatchesThatAreTakenDoNotCount) {
  TestServer server;
  server.MakeFitted("wing");
  const auto channel = server.NewChannel();
  const auto stub = v1::Emulator::NewStub(channel);
  for (int i = 0; i < (kGivenUp + kAtOnce) / 2 + 10; ++i) {
    TestContext export_context, watch_context;
    v1::ExportModelRequest export_request;
    export_request.set_name("models/nothing");
    v1::ExportModelResponse part;
    const auto exported = stub->ExportModel(&export_context, export_request);
    EXPECT_FALSE(exported->Read(&part));
    EXPECT_EQ(exported->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
    v1::WatchFitRequest watch_request;
    watch_request.set_name("models/wing/fits/999");
    v1::WatchFitResponse event;
    const auto watch = stub->WatchFit(&watch_context, watch_request);
    EXPECT_FALSE(watch->Read(&event));
    EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
  }
}

}  // namespace
}  // namespace fidelio
