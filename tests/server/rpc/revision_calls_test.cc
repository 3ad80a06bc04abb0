// GetRevision, ListRevisions, RollbackModel, ExportModel and ImportModel through a real channel.
#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"
#include "tests/server/rpc/test_server.h"

namespace fidelio {
namespace {

class RevisionCallsTest : public ::testing::Test {
 protected:
  std::string Predict(TestServer& server, const std::string& model) {
    v1::PredictResponse answer;
    TestContext context;
    EXPECT_TRUE(IsOk(server.stub().Predict(&context, PredictAt(model, {0.1, 0.35, 0.8}), &answer)));
    return answer.prediction().SerializeAsString();
  }

  std::vector<std::string> Export(TestServer& server, const std::string& name, bool all_revisions) {
    v1::ExportModelRequest request;
    request.set_name(name);
    request.set_all_revisions(all_revisions);
    TestContext context;
    const auto reader = server.stub().ExportModel(&context, request);
    std::vector<std::string> chunks;
    v1::ExportModelResponse response;
    while (reader->Read(&response)) chunks.push_back(response.chunk());
    EXPECT_TRUE(IsOk(reader->Finish()));
    return chunks;
  }

  grpc::Status Import(TestServer& server, const std::string& id, const std::vector<std::string>& chunks,
                      v1::Model* model, const std::string& request_id = "") {
    TestContext context;
    const auto writer = server.stub().ImportModel(&context, model);
    v1::ImportModelRequest request;
    request.mutable_header()->set_model_id(id);
    request.mutable_header()->set_request_id(request_id);
    writer->Write(request);
    for (const std::string& chunk : chunks) {
      request.set_chunk(chunk);
      if (!writer->Write(request)) break;
    }
    writer->WritesDone();
    return writer->Finish();
  }

  TestServer server_;
};

TEST_F(RevisionCallsTest, RevisionsAreListedTheNewestFirstAndServedAfterARollback) {
  server_.MakeFitted("wing");
  const std::string first = Predict(server_, "wing");
  server_.Observe("wing", 10);
  server_.FitAndWait("wing", 3);
  const std::string second = Predict(server_, "wing");
  EXPECT_NE(first, second);

  v1::ListRevisionsRequest list;
  list.set_parent("models/wing");
  v1::ListRevisionsResponse page;
  {
    TestContext context;
    ASSERT_TRUE(IsOk(server_.stub().ListRevisions(&context, list, &page)));
  }
  ASSERT_EQ(page.revisions_size(), 2);
  const v1::Revision& newest = page.revisions(0);
  EXPECT_EQ(newest.name(), "models/wing/revisions/2");
  EXPECT_EQ(newest.origin(), v1::REVISION_ORIGIN_FIT);
  EXPECT_EQ(newest.fit(), "models/wing/fits/2");
  EXPECT_EQ(newest.data_version(), 2);
  EXPECT_EQ(newest.observation_counts(0), 18);
  EXPECT_EQ(newest.options().seed(), 3u);
  EXPECT_EQ(newest.inference(), v1::INFERENCE_MOMENTS);
  EXPECT_EQ(newest.code_version(), "1.2.3");
  EXPECT_EQ(newest.sha256().size(), 32u);
  EXPECT_GT(newest.size_bytes(), 0);
  EXPECT_TRUE(newest.current());
  EXPECT_FALSE(page.revisions(1).current());

  v1::RollbackModelRequest rollback;
  rollback.set_name("models/wing");
  rollback.set_revision("models/wing/revisions/1");
  v1::Model model;
  {
    TestContext context;
    ASSERT_TRUE(IsOk(server_.stub().RollbackModel(&context, rollback, &model)));
  }
  EXPECT_EQ(model.current_revision(), "models/wing/revisions/1");
  EXPECT_EQ(Predict(server_, "wing"), first);

  v1::GetRevisionRequest get;
  get.set_name("models/wing/revisions/1");
  v1::Revision revision;
  {
    TestContext context;
    ASSERT_TRUE(IsOk(server_.stub().GetRevision(&context, get, &revision)));
  }
  EXPECT_TRUE(revision.current());
  rollback.clear_revision();
  TestContext context;
  ExpectBadField(server_.stub().RollbackModel(&context, rollback, &model), "revision", "models/wing/revisions/1");
}

TEST_F(RevisionCallsTest, ARevisionIsDeletedButNotTheCurrentOne) {
  server_.MakeFitted("wing");
  server_.FitAndWait("wing", 3);
  const auto erase = [&](const std::string& name, const std::string& request_id = "", const std::string& etag = "") {
    v1::DeleteRevisionRequest request;
    request.set_name(name);
    request.set_request_id(request_id);
    request.set_etag(etag);
    google::protobuf::Empty response;
    TestContext context;
    return server_.stub().DeleteRevision(&context, request, &response);
  };
  ExpectError<google::rpc::PreconditionFailure>(erase("models/wing/revisions/2"), grpc::StatusCode::FAILED_PRECONDITION,
                                                "serves");
  EXPECT_EQ(erase("models/wing/revisions/1", "", "stale").error_code(), grpc::StatusCode::ABORTED);
  ExpectBadField(erase("models/wing"), "name", "");
  ASSERT_TRUE(IsOk(erase("models/wing/revisions/1", "once")));
  EXPECT_TRUE(IsOk(erase("models/wing/revisions/1", "once")));
  const auto info = ExpectError<google::rpc::ResourceInfo>(erase("models/wing/revisions/1"),
                                                           grpc::StatusCode::NOT_FOUND, "models/wing/revisions/1");
  EXPECT_EQ(info.resource_type(), "revision");
  v1::PredictRequest predict = PredictAt("wing", {0.5});
  predict.set_revision("models/wing/revisions/1");
  v1::PredictResponse prediction;
  TestContext context;
  EXPECT_EQ(server_.stub().Predict(&context, predict, &prediction).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST(RollbackCallsTest, AFitThatEndsAfterARollbackSaysThatItIsNotServed) {
  FitGate gate;
  TestServer server([&](Server::Options& options) { options.hooks = gate.Hooks(); });
  server.MakeFitted("wing");
  gate.Close();
  v1::Fit fit;
  {
    TestContext context;
    ASSERT_TRUE(IsOk(server.stub().Fit(&context, ShortFit("wing"), &fit)));
  }
  gate.AwaitHeld();
  v1::RollbackModelRequest rollback;
  rollback.set_name("models/wing");
  rollback.set_revision("models/wing/revisions/1");
  v1::Model model;
  {
    TestContext context;
    ASSERT_TRUE(IsOk(server.stub().RollbackModel(&context, rollback, &model)));
  }
  gate.Open();
  v1::WatchFitRequest watch;
  watch.set_name(fit.name());
  TestContext watching;
  const auto reader = server.stub().WatchFit(&watching, watch);
  v1::WatchFitResponse event;
  while (reader->Read(&event)) {
    EXPECT_EQ(event.fit().not_served(), event.fit().state() == v1::FIT_STATE_SUCCEEDED);
  }
  EXPECT_TRUE(IsOk(reader->Finish()));
  EXPECT_EQ(event.fit().revision(), "models/wing/revisions/2");
  EXPECT_TRUE(event.fit().not_served());
  v1::GetModelRequest get;
  get.set_name("models/wing");
  TestContext context;
  ASSERT_TRUE(IsOk(server.stub().GetModel(&context, get, &model)));
  EXPECT_EQ(model.current_revision(), "models/wing/revisions/1");
}

TEST_F(RevisionCallsTest, AModelMovesToAnotherServerAndPredictsTheSameBits) {
  server_.MakeFitted("wing");
  const std::vector<std::string> file = Export(server_, "models/wing", true);
  TestServer other;
  v1::Model model;
  ASSERT_TRUE(IsOk(Import(other, "", file, &model, "import-1")));
  EXPECT_EQ(model.name(), "models/wing");
  EXPECT_EQ(model.data_version(), 1);
  EXPECT_EQ(Predict(other, "wing"), Predict(server_, "wing"));
  // The same again is the same answer; under another name it is another model.
  v1::Model again;
  ASSERT_TRUE(IsOk(Import(other, "", file, &again, "import-1")));
  EXPECT_EQ(again.SerializeAsString(), model.SerializeAsString());
  ASSERT_TRUE(IsOk(Import(other, "wing-copy", file, &model)));
  EXPECT_EQ(Predict(other, "wing-copy"), Predict(server_, "wing"));
  EXPECT_EQ(Import(other, "wing-copy", file, &model).error_code(), grpc::StatusCode::ALREADY_EXISTS);
}

TEST_F(RevisionCallsTest, ADamagedOrIncompleteFileLeavesNothingBehind) {
  server_.MakeFitted("wing");
  std::string file;
  for (const std::string& chunk : Export(server_, "models/wing", false)) file += chunk;
  v1::Model model;
  std::string damaged = file;
  damaged[file.size() / 2] ^= 4;
  ExpectBadField(Import(server_, "copy", {damaged}, &model), "chunk", "");
  ExpectBadField(Import(server_, "copy", {file.substr(0, file.size() - 1)}, &model), "chunk", "not complete");
  EXPECT_EQ(Import(server_, "copy", {"not such a file at all, and long enough to be sure"}, &model).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  ExpectBadField(Import(server_, "copy", {""}, &model), "chunk", "empty");
  ExpectBadField(Import(server_, "Copy", {file}, &model), "header.model_id", "\"Copy\"");
  {
    TestContext context;
    const auto writer = server_.stub().ImportModel(&context, &model);
    writer->WritesDone();
    ExpectBadField(writer->Finish(), "header", "missing");
  }
  v1::GetModelRequest get;
  get.set_name("models/copy");
  TestContext context;
  EXPECT_EQ(server_.stub().GetModel(&context, get, &model).error_code(), grpc::StatusCode::NOT_FOUND);
}

}  // namespace
}  // namespace fidelio
