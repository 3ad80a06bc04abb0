#include "client/cpp/channel.h"

#include <string>
#include <utility>
#include <vector>

#include "client/cpp/client.h"
#include "grpcpp/security/server_credentials.h"
#include "gtest/gtest.h"
#include "tests/client/support/fake_emulator.h"
#include "tests/server/auth/test_certificates.h"
#include "tests/support/status.h"

namespace fidelio::client {
namespace {

TEST(ChannelTest, AddressesOfThisMachineAreKnown) {
  for (const char* address :
       {"127.0.0.1:50051", "127.8.9.1", "localhost:1", "localhost", "LocalHost:7", "[::1]:50051", "[::1]",
        "[::ffff:127.0.0.1]:1", "unix:/run/fidelio", "unix-abstract:fidelio", "ipv4:127.0.0.1:1", "ipv6:[::1]:1"}) {
    EXPECT_TRUE(IsLoopback(address)) << address;
  }
  for (const char* address :
       {"192.0.2.1:50051", "example.com:443", "localhost.example.com:1", "0.0.0.0:1", "127.evil.com:50051",
        "127.0.0.1.evil.com", "127.1:1", "127.0.0.1x:1", "[::1]evil.com:1", "[::1", "[::]:1", "[::ffff:192.0.2.1]:1",
        "ipv4:127.0.0.1:1,192.0.2.1:1", "dns://192.0.2.1/localhost:1", "unixy.example.com:1", ""}) {
    EXPECT_FALSE(IsLoopback(address)) << address;
  }
}

TEST(ChannelTest, AHostAloneHasThePortOfServers) {
  for (const auto& [server, address] :
       std::vector<std::pair<std::string, std::string>>{{"127.0.0.1", "127.0.0.1:50051"},
                                                        {"example.com", "example.com:50051"},
                                                        {"example.com:7", "example.com:7"},
                                                        {"[::1]", "[::1]:50051"},
                                                        {"[::1]:7", "[::1]:7"},
                                                        {"unix:/run/fidelio", "unix:/run/fidelio"},
                                                        {"dns:///example.com:7", "dns:///example.com:7"}}) {
    const auto result = ServerAddress(server);
    ASSERT_TRUE(result.ok()) << server << ": " << result.status();
    EXPECT_EQ(*result, address);
  }
}

TEST(ChannelTest, WhatIsNoAddressIsRefusedBeforeACall) {
  for (const auto& [server, rule] :
       std::vector<std::pair<std::string, std::string>>{{"http://example.com:7", "is a URL"},
                                                        {"https://example.com", "is a URL"},
                                                        {"example.com:grpc", "must be host:port"},
                                                        {"example.com:", "must be host:port"},
                                                        {"example.com:0", "must be host:port"},
                                                        {"example.com:65536", "must be host:port"},
                                                        {":50051", "must be host:port"},
                                                        {"::1", "several colons"},
                                                        {"[::1", "not closed"},
                                                        {"[::1]7", "must be host:port"}}) {
    EXPECT_TRUE(IsError(MakeChannel({.server = server}).status(), absl::StatusCode::kInvalidArgument,
                        {"server: \"" + server, rule}))
        << server;
  }
}

TEST(ChannelTest, ANameThatLooksLikeLoopbackGetsNoToken) {
  EXPECT_TRUE(IsError(MakeChannel({.server = "127.evil.com:50051", .token = "s3cret"}).status(),
                      absl::StatusCode::kInvalidArgument,
                      {"token: would travel to \"127.evil.com:50051\"", "use TLS"}));
}

TEST(ChannelTest, ATokenDoesNotLeaveTheMachineWithoutTls) {
  ChannelOptions options{.server = "192.0.2.1:50051", .token = "s3cret"};
  EXPECT_TRUE(IsError(MakeChannel(options).status(), absl::StatusCode::kInvalidArgument,
                      {"token: would travel to \"192.0.2.1:50051\"", "use TLS"}));
  options.insecure_token = true;
  EXPECT_TRUE(MakeChannel(options).ok());
  options.insecure_token = false;
  options.tls = true;
  EXPECT_TRUE(MakeChannel(options).ok());
}

TEST(ChannelTest, OptionsThatCannotWorkAreNamed) {
  EXPECT_TRUE(IsError(MakeChannel({.server = ""}).status(), absl::StatusCode::kInvalidArgument, {"server: empty"}));
  EXPECT_TRUE(
      IsError(MakeChannel({.tls_cert = "PEM"}).status(), absl::StatusCode::kInvalidArgument, {"tls_key: missing"}));
  EXPECT_TRUE(
      IsError(MakeChannel({.tls_key = "PEM"}).status(), absl::StatusCode::kInvalidArgument, {"tls_cert: missing"}));
  EXPECT_TRUE(
      IsError(MakeChannel({.token = "two words"}).status(), absl::StatusCode::kInvalidArgument, {"token: must be"}));
  EXPECT_TRUE(IsError(MakeChannel({.token = "line\n"}).status(), absl::StatusCode::kInvalidArgument, {"token"}));
}

// A server that asks for a client's certificate.
class TlsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_.Stop();
    server_.emulator().get_model = [](grpc::ServerContext&, const v1::GetModelRequest&, v1::Model&) {
      return grpc::Status::OK;
    };
    grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    options.pem_root_certs = authority_.cert;
    options.pem_key_cert_pairs.push_back({own_.key, own_.cert});
    int port = 0;
    server_.Start(grpc::SslServerCredentials(options), "127.0.0.1:0", &port);
    channel_ = {.server = "127.0.0.1:" + std::to_string(port),
                .tls_ca = authority_.cert,
                .tls_cert = client_.cert,
                .tls_key = client_.key};
  }

  absl::Status Call() const {
    ClientOptions options{.channel = channel_};
    options.retry.give_up_after = absl::ZeroDuration();
    return (*Client::Connect(options))->GetModel("wing").status();
  }

  const TestCertificate authority_ = MakeAuthority("authority");
  const TestCertificate own_ = MakeCertificate(authority_, "server");
  const TestCertificate client_ = MakeCertificate(authority_, "client");
  ChannelOptions channel_;
  FakeServer server_;
};

TEST_F(TlsTest, CertificatesOfBothSidesAreShown) { EXPECT_TRUE(Call().ok()) << Call(); }

TEST_F(TlsTest, AServerThatNobodyTrustedSignedForIsNotSpokenTo) {
  channel_.tls_ca = MakeAuthority("someone else").cert;
  EXPECT_TRUE(absl::IsUnavailable(Call())) << Call();
}

TEST_F(TlsTest, WithoutAClientsCertificateTheServerDoesNotAnswer) {
  channel_.tls_cert = channel_.tls_key = "";
  EXPECT_TRUE(absl::IsUnavailable(Call())) << Call();
}

TEST_F(TlsTest, TheNameOfTheServerMustBeTheOneOfItsCertificate) {
  channel_.tls_server = "elsewhere.example.com";
  EXPECT_TRUE(absl::IsUnavailable(Call())) << Call();
}

}  // namespace
}  // namespace fidelio::client
