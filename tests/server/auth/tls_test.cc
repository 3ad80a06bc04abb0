#include "server/auth/tls.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/server/auth/test_certificates.h"

namespace fidelio {
namespace {

class TlsTest : public testing::Test {
 protected:
  TlsTest() {
    directory_ = testing::TempDir() + "tls_test_XXXXXX";
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    files_ = {.cert = directory_ + "/cert.pem", .key = directory_ + "/key.pem"};
    Write(files_.cert, server_.cert);
    Write(files_.key, server_.key);
  }
  ~TlsTest() override {
    if (grpc_server_ != nullptr) grpc_server_->Shutdown();
    std::filesystem::remove_all(directory_);
  }

  static void Write(const std::string& path, const std::string& text) {
    std::ofstream(path + ".new") << text;
    ASSERT_EQ(std::rename((path + ".new").c_str(), path.c_str()), 0);
  }

  absl::Status LoadStatus() { return TlsIdentity::Load(files_, logger_.get()).status(); }

  // A server on a free port with gRPC's own health service.
  void StartServer() {
    auto identity = TlsIdentity::Load(files_, logger_.get());
    ASSERT_TRUE(identity.ok()) << identity.status();
    identity_ = *std::move(identity);
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    builder.RegisterCallbackGenericService(&anything_);  // health alone makes no server
    builder.AddListeningPort("127.0.0.1:0", identity_->NewCredentials(), &port_);
    grpc_server_ = builder.BuildAndStart();
    ASSERT_NE(grpc_server_, nullptr);
    ASSERT_GT(port_, 0);
  }

  // Asks the server for its health on a new connection.
  grpc::StatusCode Call(const std::shared_ptr<grpc::ChannelCredentials>& credentials) const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return Call(grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port_), credentials, arguments));
  }
  static grpc::StatusCode Call(const std::shared_ptr<grpc::Channel>& channel) {
    grpc::GenericStub stub(channel);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    const grpc::ByteBuffer request(nullptr, 0);
    grpc::ByteBuffer response;
    grpc::Status status;
    grpc::CompletionQueue queue;
    const auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", request, &queue);
    call->StartCall();
    call->Finish(&response, &status, nullptr);
    void* tag;
    bool ok;
    EXPECT_TRUE(queue.Next(&tag, &ok) && ok);
    return status.error_code();
  }

  static std::shared_ptr<grpc::ChannelCredentials> Trusting(const TestCertificate& authority,
                                                            const TestCertificate& own = {}) {
    return grpc::SslCredentials(
        {.pem_root_certs = authority.cert, .pem_private_key = own.key, .pem_cert_chain = own.cert});
  }

  const TestCertificate authority_ = MakeAuthority("authority");
  const TestCertificate server_ = MakeCertificate(authority_, "server");
  std::string directory_;
  TlsFiles files_;
  std::ostringstream log_;
  std::unique_ptr<Logger> logger_ = Logger::ToStream(LogFormat::kText, LogLevel::kInfo, log_);
  std::unique_ptr<TlsIdentity> identity_;
  grpc::CallbackGenericService anything_;
  std::unique_ptr<grpc::Server> grpc_server_;
  int port_ = 0;
};

TEST_F(TlsTest, ClientsThatTrustTheAuthorityAreServedAndOthersAreNot) {
  StartServer();
  EXPECT_EQ(Call(Trusting(authority_)), grpc::StatusCode::OK);
  EXPECT_EQ(Call(Trusting(MakeAuthority("other"))), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Call(grpc::InsecureChannelCredentials()), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(TlsTest, MutualTlsServesOnlyClientsWithACertificateOfItsAuthority) {
  const TestCertificate clients = MakeAuthority("clients");
  files_.client_ca = directory_ + "/clients.pem";
  Write(files_.client_ca, clients.cert);
  StartServer();
  EXPECT_EQ(Call(Trusting(authority_, MakeCertificate(clients, "client"))), grpc::StatusCode::OK);
  EXPECT_EQ(Call(Trusting(authority_)), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Call(Trusting(authority_, MakeCertificate(authority_, "stranger"))), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(TlsTest, NewFilesServeNewConnectionsAndOldConnectionsStay) {
  StartServer();
  const auto old_channel = grpc::CreateChannel("127.0.0.1:" + std::to_string(port_), Trusting(authority_));
  EXPECT_EQ(Call(old_channel), grpc::StatusCode::OK);

  const TestCertificate new_authority = MakeAuthority("new");
  const TestCertificate renewed = MakeCertificate(new_authority, "server");
  Write(files_.cert, renewed.cert);
  Write(files_.key, renewed.key);
  ASSERT_TRUE(identity_->Reload().ok());
  EXPECT_NE(log_.str().find("TLS files reloaded"), std::string::npos);
  EXPECT_EQ(Call(Trusting(new_authority)), grpc::StatusCode::OK);
  EXPECT_EQ(Call(Trusting(authority_)), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Call(old_channel), grpc::StatusCode::OK);
}

TEST_F(TlsTest, NewClientAuthoritiesAreReloaded) {
  const TestCertificate clients = MakeAuthority("clients");
  const TestCertificate successors = MakeAuthority("successors");
  files_.client_ca = directory_ + "/clients.pem";
  Write(files_.client_ca, clients.cert);
  StartServer();
  const TestCertificate client = MakeCertificate(successors, "client");
  EXPECT_EQ(Call(Trusting(authority_, client)), grpc::StatusCode::UNAVAILABLE);
  Write(files_.client_ca, clients.cert + successors.cert);
  ASSERT_TRUE(identity_->Reload().ok());
  EXPECT_EQ(Call(Trusting(authority_, client)), grpc::StatusCode::OK);
}

TEST_F(TlsTest, HalfReplacedFilesKeepTheOldCertificate) {
  StartServer();
  const TestCertificate renewed = MakeCertificate(authority_, "server");
  Write(files_.cert, renewed.cert);
  const absl::Status status = identity_->Reload();
  EXPECT_EQ(status.message(),
            "tls_key = \"" + files_.key + "\": must hold the private key of the first certificate of tls_cert");
  EXPECT_TRUE(identity_->Reload().ok()) << "reported once";
  EXPECT_EQ(Call(Trusting(authority_)), grpc::StatusCode::OK);
  Write(files_.key, renewed.key);
  EXPECT_TRUE(identity_->Reload().ok());
  EXPECT_EQ(Call(Trusting(authority_)), grpc::StatusCode::OK);
  EXPECT_NE(log_.str().find("error the new TLS files are bad"), std::string::npos) << log_.str();
}

TEST_F(TlsTest, BadFilesAreErrorsAtStartThatNameSettingPathAndRule) {
  const auto begins = [&](const std::string& start) {
    const std::string message(LoadStatus().message());
    EXPECT_EQ(message.substr(0, start.size()), start);
  };
  ASSERT_TRUE(LoadStatus().ok());
  Write(files_.cert, "no PEM");
  begins("tls_cert = \"" + files_.cert + "\": must hold a certificate in PEM: ");
  Write(files_.cert, server_.cert + server_.cert.substr(0, 100) + "\n-----END CERTIFICATE-----\n");
  begins("tls_cert = \"" + files_.cert + "\": must hold certificates in PEM only, but number 2 is damaged: ");
  Write(files_.cert, server_.cert);
  Write(files_.key, server_.cert);
  begins("tls_key = \"" + files_.key + "\": must hold a private key in PEM without a passphrase: ");
  Write(files_.key, authority_.key);
  begins("tls_key = \"" + files_.key + "\": must hold the private key of the first certificate of tls_cert");
  Write(files_.key, server_.key);
  files_.client_ca = directory_ + "/none";
  begins("tls_client_ca = \"" + files_.client_ca + "\": must be a file that can be read: No such file");
  Write(files_.client_ca, "");
  begins("tls_client_ca = \"" + files_.client_ca + "\": must hold a certificate in PEM: ");
}

TEST_F(TlsTest, AnExpiredCertificateIsAWarning) {
  const TestCertificate expired = MakeCertificate(authority_, "server", -1);
  Write(files_.cert, expired.cert);
  Write(files_.key, expired.key);
  EXPECT_TRUE(LoadStatus().ok());
  EXPECT_NE(log_.str().find("warning the certificate is not valid at this time"), std::string::npos) << log_.str();
}

}  // namespace
}  // namespace fidelio
