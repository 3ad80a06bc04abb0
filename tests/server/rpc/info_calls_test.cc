// GetServerInfo, health and reflection through a real channel.
#include <algorithm>
#include <fstream>
#include <set>

#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/generic/generic_stub.h"
#include "gtest/gtest.h"
#include "server/auth/digest.h"
#include "tests/server/rpc/test_server.h"

namespace fidelio {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

TEST(InfoCallsTest, ServerInfoTellsWhatItIsCanDoAndAllows) {
  TestServer server;
  v1::ServerInfo info;
  TestContext context;
  ASSERT_TRUE(IsOk(server.stub().GetServerInfo(&context, {}, &info)));
  EXPECT_EQ(info.version(), "1.2.3");
  EXPECT_EQ(info.build(), "a test");
  EXPECT_EQ(info.isa_level(), "v2");
  EXPECT_GT(info.start_time().seconds(), 0);
  EXPECT_EQ(info.model_kinds(0), v1::MODEL_KIND_MF_DGP);
  EXPECT_EQ(info.inferences(0), v1::INFERENCE_AUTO);
  EXPECT_GT(info.kernel_families_size(), 0);
  EXPECT_EQ(info.observation_updates(0), v1::OBSERVATION_UPDATE_NONE);
  EXPECT_EQ(info.limits().max_message_bytes(), 64 << 20);
  EXPECT_EQ(info.limits().max_matrix_elements(), 8 << 20);
  EXPECT_EQ(info.limits().max_queued_fits(), 256);
  EXPECT_EQ(info.limits().fit_workers(), 1);
  EXPECT_GT(info.limits().max_covariance_points(), 0);
  EXPECT_EQ(info.limits().max_design_points(), 2500);
  EXPECT_EQ(info.limits().max_design_size(), 1000);
  EXPECT_TRUE(info.caller().empty());
  EXPECT_EQ(info.caller_role(), v1::ROLE_ADMIN);
}

TEST(InfoCallsTest, ServerInfoListsTheMethodsWithTheNamesOfTheContract) {
  TestServer server;
  v1::ServerInfo info;
  TestContext context;
  ASSERT_TRUE(IsOk(server.stub().GetServerInfo(&context, {}, &info)));
  std::set<int> kinds, inferences = {v1::INFERENCE_AUTO};
  for (const v1::MethodInfo& method : info.methods()) {
    EXPECT_EQ("MODEL_KIND_" + method.kind_name(), v1::ModelKind_Name(method.kind()));
    EXPECT_EQ("INFERENCE_" + method.inference_name(), v1::Inference_Name(method.inference()));
    EXPECT_NE(method.maturity(), v1::MATURITY_UNSPECIFIED);
    kinds.insert(method.kind());
    inferences.insert(method.inference());
  }
  // All that the contract has but UNSPECIFIED, and the same as in the fields of before.
  EXPECT_EQ(static_cast<int>(kinds.size()), v1::ModelKind_descriptor()->value_count() - 1);
  EXPECT_EQ(static_cast<int>(inferences.size()), v1::Inference_descriptor()->value_count() - 1);
  EXPECT_EQ(kinds, std::set<int>(info.model_kinds().begin(), info.model_kinds().end()));
  EXPECT_EQ(inferences, std::set<int>(info.inferences().begin(), info.inferences().end()));
  const auto svi = std::find_if(info.methods().begin(), info.methods().end(),
                                [](const auto& method) { return method.inference() == v1::INFERENCE_SVI; });
  ASSERT_NE(svi, info.methods().end());
  ASSERT_EQ(svi->options_size(), 3);
  EXPECT_EQ(svi->options(2).name(), "steps");
  EXPECT_EQ(svi->options(2).default_text(), "35000, as published");
  EXPECT_TRUE(svi->options(2).whole());
  for (const v1::MethodOption& option : svi->options()) {
    EXPECT_NE(v1::FitOptions::descriptor()->FindFieldByName(option.name()), nullptr) << option.name();
  }
}

TEST(InfoCallsTest, HealthIsServingAsAWholeAndPerService) {
  TestServer server;
  const auto health = Health::NewStub(server.NewChannel());
  for (const char* service : {"", "fidelio.v1.Emulator"}) {
    HealthCheckRequest request;
    request.set_service(service);
    HealthCheckResponse response;
    TestContext context;
    ASSERT_TRUE(IsOk(health->Check(&context, request, &response))) << service;
    EXPECT_EQ(response.status(), HealthCheckResponse::SERVING) << service;
  }
  HealthCheckRequest request;
  request.set_service("fidelio.v1.Nothing");
  HealthCheckResponse response;
  TestContext context;
  EXPECT_EQ(health->Check(&context, request, &response).error_code(), grpc::StatusCode::NOT_FOUND);
}

// The status of a call to the reflection service: a stream that is closed at once.
grpc::Status CallReflection(TestServer& server) {
  grpc::GenericStub stub(server.NewChannel());
  TestContext context;
  grpc::CompletionQueue queue;
  const auto call =
      stub.PrepareCall(&context, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
  void* tag = nullptr;
  bool ok = false;
  call->StartCall(nullptr);
  queue.Next(&tag, &ok);
  if (ok) {
    call->WritesDone(nullptr);
    queue.Next(&tag, &ok);
  }
  grpc::Status status;
  call->Finish(&status, nullptr);
  queue.Next(&tag, &ok);
  return status;
}

TEST(InfoCallsTest, ReflectionIsOnWithoutTokens) {
  TestServer server;
  EXPECT_TRUE(IsOk(CallReflection(server)));
}

TEST(InfoCallsTest, ReflectionIsOffWithTokensUnlessAskedFor) {
  const auto tokens = [](Server::Options& options) {
    options.config.tokens_file = options.config.data_dir + ".tokens";
    std::ofstream(options.config.tokens_file) << "ada admin " << FormatDigest(DigestOf("token")) << "\n";
  };
  TestServer closed(tokens);
  EXPECT_EQ(CallReflection(closed).error_code(), grpc::StatusCode::UNIMPLEMENTED);
  TestServer open([&](Server::Options& options) {
    tokens(options);
    options.config.reflection = Reflection::kOn;
  });
  EXPECT_TRUE(IsOk(CallReflection(open)));
}

}  // namespace
}  // namespace fidelio
