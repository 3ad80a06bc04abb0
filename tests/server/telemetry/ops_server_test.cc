#include "server/telemetry/ops_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace fidelio {
namespace {

class OpsServerTest : public testing::Test {
 protected:
  OpsServerTest() {
    auto server = OpsServer::Start({"127.0.0.1", 0}, &metrics_, &readiness_);
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  int Connect() const {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(server_->port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return socket;
  }

  // The whole answer to a request.
  std::string Exchange(const std::string& request) const {
    const int socket = Connect();
    EXPECT_EQ(send(socket, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
    std::string answer;
    char buffer[4096];
    for (ssize_t got; (got = recv(socket, buffer, sizeof(buffer), 0)) > 0;) {
      answer.append(buffer, static_cast<size_t>(got));
    }
    close(socket);
    return answer;
  }

  std::string Get(const std::string& path) const { return Exchange("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"); }

  static bool StartsWith(const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; }

  Metrics metrics_{{"Predict"}, "1.2.3"};
  Readiness readiness_;
  std::unique_ptr<OpsServer> server_;
};

TEST_F(OpsServerTest, ServesMetrics) {
  metrics_.RecordCall("Predict", absl::StatusCode::kOk, 0.1, 0, 0);
  const std::string answer = Get("/metrics");
  EXPECT_TRUE(StartsWith(answer, "HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_NE(answer.find("Content-Type: text/plain; version=0.0.4"), std::string::npos);
  EXPECT_NE(answer.find("fidelio_calls_total{code=\"OK\",method=\"Predict\"} 1"), std::string::npos) << answer;
}

TEST_F(OpsServerTest, IsHealthyInEveryStateButReadyOnlyWhenReady) {
  EXPECT_TRUE(StartsWith(Get("/healthz"), "HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(StartsWith(Get("/readyz"), "HTTP/1.1 503 Service Unavailable\r\n"));
  EXPECT_NE(Get("/readyz").find("\r\n\r\nstarting\n"), std::string::npos);
  readiness_.SetReady();
  EXPECT_TRUE(StartsWith(Get("/readyz"), "HTTP/1.1 200 OK\r\n"));
  readiness_.SetDraining();
  EXPECT_NE(Get("/readyz").find("\r\n\r\ndraining\n"), std::string::npos);
  EXPECT_TRUE(StartsWith(Get("/healthz"), "HTTP/1.1 200 OK\r\n"));
}

TEST_F(OpsServerTest, RefusesOtherPathsAndMethods) {
  EXPECT_TRUE(StartsWith(Get("/"), "HTTP/1.1 404 "));
  EXPECT_TRUE(StartsWith(Get("/metrics/../../etc/passwd"), "HTTP/1.1 404 "));
  EXPECT_TRUE(StartsWith(Exchange("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"), "HTTP/1.1 405 "));
}

TEST_F(OpsServerTest, AnswersHeadWithoutABody) {
  const std::string answer = Exchange("HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(StartsWith(answer, "HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_EQ(answer.substr(answer.size() - 4), "\r\n\r\n");
}

TEST_F(OpsServerTest, SurvivesGarbageAndSilentConnections) {
  std::vector<int> idle;
  for (int i = 0; i < 3; ++i) idle.push_back(Connect());  // fewer than there are threads
  Exchange(std::string(100'000, 'x') + "\r\n\r\n");
  Exchange("GET " + std::string(20'000, 'a') + " HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(StartsWith(Get("/healthz"), "HTTP/1.1 200 OK\r\n"));
  for (const int socket : idle) close(socket);
}

TEST_F(OpsServerTest, AnAddressInUseIsAnErrorThatNamesIt) {
  const auto second = OpsServer::Start({"127.0.0.1", server_->port()}, &metrics_, &readiness_);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(second.status().message().find("metrics_address = \"127.0.0.1:" + std::to_string(server_->port()) + "\""),
            std::string::npos)
      << second.status();
}

TEST_F(OpsServerTest, LocalhostNeedsNoResolver) {
  const auto server = OpsServer::Start({"localhost", 0}, &metrics_, &readiness_);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_GT((*server)->port(), 0);
}

TEST(ReadinessTest, FailureIsFinalAndKeepsItsFirstReason) {
  Readiness readiness;
  readiness.SetReady();
  readiness.SetFailed("fsync: I/O error");
  readiness.SetFailed("later");
  readiness.SetReady();
  readiness.SetDraining();
  EXPECT_FALSE(readiness.ready());
  EXPECT_EQ(readiness.Describe(), "failed: fsync: I/O error");
}

TEST(ReadinessTest, DrainingNeverBecomesReadyAgain) {
  Readiness readiness;
  readiness.SetDraining();
  readiness.SetReady();
  EXPECT_FALSE(readiness.ready());
  EXPECT_EQ(readiness.Describe(), "draining");
}

}  // namespace
}  // namespace fidelio
