#include "server/rpc/grpc_limits.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <functional>

namespace fidelio {
namespace {

class LimitsTest : public testing::Test {
 protected:
  LimitsTest() {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    builder.RegisterCallbackGenericService(&anything_);  // health alone makes no server
    ApplyLimits({.max_message_mib = 1, .max_metadata_kib = 16}, builder);
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    server_ = builder.BuildAndStart();
    EXPECT_NE(server_, nullptr);
  }
  ~LimitsTest() override { server_->Shutdown(); }

  // Asks for health with a request of so many zero bytes.
  grpc::Status Call(
      size_t bytes, const std::function<void(grpc::ClientContext&)>& prepare = [](auto&) {}) const {
    grpc::GenericStub stub(
        grpc::CreateChannel("127.0.0.1:" + std::to_string(port_), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    context.set_wait_for_ready(true);
    prepare(context);
    const grpc::Slice slice(std::string(bytes, '\0'));
    const grpc::ByteBuffer request(&slice, 1);
    grpc::ByteBuffer response;
    grpc::Status status;
    grpc::CompletionQueue queue;
    const auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", request, &queue);
    call->StartCall();
    call->Finish(&response, &status, nullptr);
    void* tag;
    bool ok;
    EXPECT_TRUE(queue.Next(&tag, &ok) && ok);
    return status;
  }

  grpc::CallbackGenericService anything_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

TEST_F(LimitsTest, AnOrdinaryCallIsServed) { EXPECT_TRUE(Call(0).ok()) << Call(0).error_message(); }

TEST_F(LimitsTest, ALargerMessageIsRefused) {
  EXPECT_EQ(Call((1 << 20) + 1).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(LimitsTest, LargerMetadataIsRefused) {
  const grpc::Status status =
      Call(0, [](grpc::ClientContext& context) { context.AddMetadata("padding", std::string(4 << 20, 'x')); });
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(Call(0).ok());
}

TEST_F(LimitsTest, ACompressedMessageIsRefusedInsteadOfInflated) {
  const grpc::Status status =
      Call(1 << 19, [](grpc::ClientContext& context) { context.set_compression_algorithm(GRPC_COMPRESS_GZIP); });
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << status.error_message();
}

TEST(LimitOpenFilesTest, SetsTheSoftLimitWithinTheHardOne) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(*LimitOpenFiles(100), 100);
  rlimit after;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, 100u);
  EXPECT_EQ(after.rlim_max, before.rlim_max);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace fidelio
