// Who may call what: tokens, roles and prefixes through a real channel.
#include <fstream>

#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"
#include "server/auth/digest.h"
#include "tests/server/rpc/test_server.h"

namespace fidelio {
namespace {

constexpr char kReader[] = "reader-token-of-20-characters";
constexpr char kWriter[] = "writer-token-of-20-characters";
constexpr char kWingWriter[] = "wing-writer-token-of-20-characters";

class AuthCallsTest : public ::testing::Test {
 protected:
  AuthCallsTest()
      : server_([](Server::Options& options) {
          options.config.tokens_file = options.config.data_dir + ".tokens";
          std::ofstream(options.config.tokens_file)
              << "rita reader " << FormatDigest(DigestOf(kReader)) << "\n"
              << "wim writer " << FormatDigest(DigestOf(kWriter)) << "\n"
              << "ada writer " << FormatDigest(DigestOf(kWingWriter)) << " prefix=wing-\n";
        }) {}

  grpc::Status Create(const std::string& token, const std::string& model) {
    v1::CreateModelRequest request;
    request.set_model_id(model);
    request.mutable_model()->set_input_dimension(1);
    request.mutable_model()->add_fidelities();
    v1::Model answer;
    TestContext context(token);
    return server_.stub().CreateModel(&context, request, &answer);
  }

  grpc::Status Get(const std::string& token, const std::string& name) {
    v1::GetModelRequest request;
    request.set_name(name);
    v1::Model answer;
    TestContext context(token);
    return server_.stub().GetModel(&context, request, &answer);
  }

  TestServer server_;
};

TEST_F(AuthCallsTest, NoTokenOrABadOneIsUnauthenticatedBeforeAnythingElseIsSaid) {
  ExpectBareError(Get("", "models/wing"), grpc::StatusCode::UNAUTHENTICATED, "authorization: missing");
  ExpectBareError(Get("", "not a name"), grpc::StatusCode::UNAUTHENTICATED, "authorization: missing");
  const grpc::Status bad = Get("some-other-token-of-20-characters", "models/wing");
  ExpectBareError(bad, grpc::StatusCode::UNAUTHENTICATED, "not known");
  EXPECT_EQ(bad.error_message().find("some-other"), std::string::npos);
  // Two tokens are as good as none.
  v1::GetServerInfoRequest request;
  v1::ServerInfo info;
  TestContext context(kReader);
  context.AddMetadata("authorization", std::string("Bearer ") + kWriter);
  EXPECT_EQ(server_.stub().GetServerInfo(&context, request, &info).error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(AuthCallsTest, RolesMayDoTheirPartAndNoMore) {
  ExpectBareError(Create(kReader, "wing"), grpc::StatusCode::PERMISSION_DENIED, "role reader");
  EXPECT_TRUE(IsOk(Create(kWriter, "wing")));
  EXPECT_TRUE(IsOk(Get(kReader, "models/wing")));
  v1::DeleteModelRequest request;
  request.set_name("models/wing");
  google::protobuf::Empty empty;
  TestContext context(kReader);
  ExpectBareError(server_.stub().DeleteModel(&context, request, &empty), grpc::StatusCode::PERMISSION_DENIED,
                  "DeleteModel needs the role writer");
}

TEST_F(AuthCallsTest, ReadersMayAskForDesignsOfTheirModelsAlone) {
  ASSERT_TRUE(IsOk(Create(kWriter, "tail")));
  const auto ask = [&](const std::string& token) {
    v1::SuggestRequest request;
    request.set_model("models/tail");
    v1::SuggestResponse answer;
    TestContext context(token);
    return server_.stub().Suggest(&context, request, &answer);
  };
  EXPECT_EQ(ask(kReader).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);  // as for everybody, before the first fit
  ExpectBareError(ask(kWingWriter), grpc::StatusCode::PERMISSION_DENIED, "\"wing-\"");
  ExpectBareError(ask(""), grpc::StatusCode::UNAUTHENTICATED, "authorization: missing");
}

TEST_F(AuthCallsTest, OutsideOfItsPrefixATokenLearnsNothing) {
  ASSERT_TRUE(IsOk(Create(kWriter, "tail")));
  ASSERT_TRUE(IsOk(Create(kWingWriter, "wing-a")));
  const grpc::Status there = Get(kWingWriter, "models/tail");
  const grpc::Status not_there = Get(kWingWriter, "models/tusk");
  ExpectBareError(there, grpc::StatusCode::PERMISSION_DENIED, "\"wing-\"");
  ExpectBareError(not_there, grpc::StatusCode::PERMISSION_DENIED, "\"wing-\"");
  EXPECT_EQ(there.error_message().size(), not_there.error_message().size());
  ExpectBareError(Create(kWingWriter, "tail"), grpc::StatusCode::PERMISSION_DENIED, "\"wing-\"");

  v1::ListModelsResponse page;
  {
    TestContext context(kWingWriter);
    ASSERT_TRUE(IsOk(server_.stub().ListModels(&context, {}, &page)));
  }
  ASSERT_EQ(page.models_size(), 1);
  EXPECT_EQ(page.models(0).name(), "models/wing-a");

  v1::WatchFitRequest watch;
  watch.set_name("models/tail/fits/1");
  TestContext watch_context(kWingWriter);
  const auto reader = server_.stub().WatchFit(&watch_context, watch);
  v1::WatchFitResponse event;
  EXPECT_FALSE(reader->Read(&event));
  ExpectBareError(reader->Finish(), grpc::StatusCode::PERMISSION_DENIED, "\"wing-\"");

  // The name inside of a file is known too late.
  v1::Model model;
  TestContext import_context(kWingWriter);
  const auto writer = server_.stub().ImportModel(&import_context, &model);
  v1::ImportModelRequest request;
  request.mutable_header();
  writer->Write(request);
  writer->WritesDone();
  ExpectBadField(writer->Finish(), "header.model_id", "\"wing-\"");
}

TEST_F(AuthCallsTest, ServerInfoTellsCallersWhoTheyAre) {
  v1::ServerInfo info;
  TestContext context(kWingWriter);
  ASSERT_TRUE(IsOk(server_.stub().GetServerInfo(&context, {}, &info)));
  EXPECT_EQ(info.caller(), "ada");
  EXPECT_EQ(info.caller_role(), v1::ROLE_WRITER);
}

TEST_F(AuthCallsTest, QuotasOfTheCallerAndOfTheOwnerHold) {
  TestServer server([](Server::Options& options) {
    options.config.tokens_file = options.config.data_dir + ".tokens";
    std::ofstream(options.config.tokens_file)
        << "alice writer " << FormatDigest(DigestOf(kWriter)) << " max_observations=5\n"
        << "bob writer " << FormatDigest(DigestOf(kReader)) << " max_observations=8\n"
        << "carol writer " << FormatDigest(DigestOf(kWingWriter)) << "\n";
  });
  const auto add = [&](const std::string& token, int count) {
    v1::AddObservationsRequest request;
    request.set_model("models/bobs");
    *request.add_observations()->mutable_inputs() = MakeMatrix(count, 1, std::vector<double>(count, 0.5));
    *request.mutable_observations(0)->mutable_outputs() = MakeMatrix(count, 1, std::vector<double>(count, 1));
    v1::AddObservationsResponse answer;
    TestContext context(token);
    return server.stub().AddObservations(&context, request, &answer);
  };
  v1::CreateModelRequest create;
  create.set_model_id("bobs");
  create.mutable_model()->set_input_dimension(1);
  create.mutable_model()->add_fidelities();
  v1::Model model;
  TestContext context(kReader);
  ASSERT_TRUE(IsOk(server.stub().CreateModel(&context, create, &model)));
  const auto failure =
      ExpectError<google::rpc::QuotaFailure>(add(kWriter, 20), grpc::StatusCode::RESOURCE_EXHAUSTED, "20 more");
  EXPECT_EQ(failure.violations(0).subject(), "token:alice");
  const auto owners =
      ExpectError<google::rpc::QuotaFailure>(add(kWingWriter, 9), grpc::StatusCode::RESOURCE_EXHAUSTED, "9 more");
  EXPECT_EQ(owners.violations(0).subject(), "token:bob");
  EXPECT_TRUE(IsOk(add(kWingWriter, 3)));
}

TEST_F(AuthCallsTest, TheLogHasOneLineForEveryCallWithTheNameOfItsToken) {
  ASSERT_TRUE(IsOk(Create(kWriter, "wing")));
  Get("", "models/wing");
  Get(kReader, "models/none\ninjected=1");
  const std::string log = server_.StopAndReadLog();
  EXPECT_NE(log.find("call method=CreateModel model=wing code=OK ms="), std::string::npos) << log;
  EXPECT_NE(log.find("token=wim"), std::string::npos) << log;
  EXPECT_NE(log.find("call method=GetModel code=UNAUTHENTICATED"), std::string::npos) << log;
  EXPECT_EQ(log.find("\ninjected"), std::string::npos) << log;
  EXPECT_EQ(log.find(kWriter), std::string::npos) << log;
}

}  // namespace
}  // namespace fidelio
