// DeleteRevision and keep_revisions.
#include <atomic>
#include <string>
#include <vector>

#include "server/model/retention.h"
#include "server/status/details.h"
#include "tests/server/model/service_testing.h"

namespace fidelio {
namespace {

std::vector<int64_t> Ids(const RevisionList& list) {
  std::vector<int64_t> ids;
  for (const RevisionInfo& revision : list.revisions) ids.push_back(revision.id);
  return ids;
}

class RetentionTest : public ::testing::Test {
 protected:
  void Fit(Server& server, int times) {
    for (int i = 0; i < times; ++i) {
      RunFit(server.service(), "wing", {.budget_iterations = 30, .seed = static_cast<uint64_t>(i)});
    }
  }

  TempDirectory directory_;
};

TEST_F(RetentionTest, ADeletedRevisionIsNotFoundAnyMore) {
  Server server(directory_.path());
  MakeModel(server.service(), "wing");
  Fit(server, 4);
  ASSERT_TRUE(server->AcquireRevision("wing", 2).ok());  // in memory
  const std::string etag = server->GetModel("wing")->etag;
  EXPECT_TRUE(IsError(server->DeleteRevision(Request(), "wing", "x", 2), absl::StatusCode::kAborted, {"etag"}));
  ASSERT_TRUE(server->DeleteRevision(Request("id-1", "body"), "wing", etag, 2).ok());
  for (const absl::Status& status :
       {server->GetRevision("wing", 2).status(), server->AcquireRevision("wing", 2).status(),
        server->RollbackModel(Request(), "wing", "", 2).status(), server->DeleteRevision(Request(), "wing", "", 2),
        server->DeleteRevision(Request(), "wing", "", 9)}) {
    EXPECT_TRUE(IsError(status, absl::StatusCode::kNotFound, {"models/wing/revisions/"}));
  }
  EXPECT_EQ(server->FindInMemory("wing", 2), nullptr);
  // A retry of the same request is answered as before.
  EXPECT_TRUE(server->DeleteRevision(Request("id-1", "body"), "wing", etag, 2).ok());
  EXPECT_EQ(server->GetModel("wing")->etag, etag);
  const absl::Status current = server->DeleteRevision(Request(), "wing", "", 4);
  EXPECT_TRUE(IsError(current, absl::StatusCode::kFailedPrecondition, {"models/wing/revisions/4", "serves"}));
  EXPECT_EQ(DetailsOf(current).precondition->type, "CURRENT_REVISION");
  Fit(server, 1);
  EXPECT_EQ(server->GetModel("wing")->current_revision, 5);
  EXPECT_TRUE(server.store().Check()->empty());
}

TEST_F(RetentionTest, ListsAndExportsLeaveDeletedOnesOut) {
  Server server(directory_.path());
  MakeModel(server.service(), "wing");
  Fit(server, 6);
  for (const int64_t id : {1, 3, 4}) ASSERT_TRUE(server->DeleteRevision(Request(), "wing", "", id).ok());
  EXPECT_EQ(Ids(*server->ListRevisions("wing", 0, 10)), (std::vector<int64_t>{6, 5, 2}));
  const auto page = server->ListRevisions("wing", 0, 2);
  EXPECT_EQ(Ids(*page), (std::vector<int64_t>{6, 5}));
  const auto rest = server->ListRevisions("wing", page->next, 2);
  EXPECT_EQ(Ids(*rest), (std::vector<int64_t>{2}));
  EXPECT_EQ(rest->next, 0);
  EXPECT_EQ(server->ListRevisions("wing", 0, 3)->next, 0);

  ASSERT_TRUE(server->RollbackModel(Request(), "wing", "", 5).ok());
  const auto copy = ImportBytes(server.service(), ExportBytes(server.service(), "wing", true), "copy");
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(copy->current_revision, 2);  // numbered anew
  EXPECT_EQ(Ids(*server->ListRevisions("copy", 0, 10)), (std::vector<int64_t>{3, 2, 1}));
  EXPECT_EQ(Answers(server.service(), "copy"), Answers(server.service(), "wing"));
  EXPECT_EQ(Answers(server.service(), "copy", 1), Answers(server.service(), "wing", 2));
}

TEST_F(RetentionTest, AnExportOfARevisionThatIsDeletedMeanwhileIsAborted) {
  Server server(directory_.path());
  MakeModel(server.service(), "wing");
  Fit(server, 2);
  auto out = *server->ExportModel("wing", true);
  ASSERT_TRUE(out->Next(10).ok());
  ASSERT_TRUE(server->DeleteRevision(Request(), "wing", "", 1).ok());
  absl::StatusOr<std::string> chunk;
  do {
    chunk = out->Next(1 << 20);
  } while (chunk.ok() && !chunk->empty());
  EXPECT_TRUE(IsError(chunk.status(), absl::StatusCode::kAborted, {"models/wing", "revision 1 was deleted"}));
}

TEST_F(RetentionTest, TheServersSettingKeepsTheNewest) {
  ModelServiceOptions options;
  options.keep_revisions = 2;
  Server server(directory_.path(), options);
  MakeModel(server.service(), "wing");
  Fit(server, 4);
  EXPECT_EQ(Ids(*server->ListRevisions("wing", 0, 10)), (std::vector<int64_t>{4, 3}));
  EXPECT_EQ(server->FindInMemory("wing", 2), nullptr);
  EXPECT_EQ(server->AcquireRevision("wing", 1).status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(server.store().Check()->empty());
}

TEST_F(RetentionTest, TheCurrentOneAndTheNewOneStay) {
  Gate gate;
  std::atomic<bool> wait = false;
  ModelServiceOptions options;
  options.keep_revisions = 1;
  options.hooks.on_iteration = [&](const std::string&, int64_t, const FitProgress&) {
    if (wait) gate.Pass();
  };
  Server server(directory_.path(), options);
  MakeModel(server.service(), "wing");
  Fit(server, 2);
  EXPECT_EQ(Ids(*server->ListRevisions("wing", 0, 10)), (std::vector<int64_t>{2}));
  wait = true;
  const auto fit = server->StartFit(Request(), "wing", "", {.budget_iterations = 30});
  ASSERT_TRUE(fit.ok());
  gate.AwaitArrivals(1);
  ASSERT_TRUE(server->RollbackModel(Request(), "wing", "", 2).ok());
  gate.Open();
  EXPECT_TRUE(AwaitFit(server.service(), "wing", fit->id).not_served);
  EXPECT_EQ(Ids(*server->ListRevisions("wing", 0, 10)), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(server->GetModel("wing")->current_revision, 2);
}

TEST_F(RetentionTest, AModelsNumberCountsBeforeTheServers) {
  EXPECT_EQ(RevisionsToKeep(0, 0), 0);
  EXPECT_EQ(RevisionsToKeep(0, 5), 5);
  EXPECT_EQ(RevisionsToKeep(3, 5), 3);
  EXPECT_EQ(RevisionsToKeep(3, 0), 3);
}

TEST_F(RetentionTest, ImportsKeepAll) {
  std::string file;
  {
    Server server(directory_.path());
    MakeModel(server.service(), "wing");
    Fit(server, 3);
    file = ExportBytes(server.service(), "wing", true);
  }
  ModelServiceOptions options;
  options.keep_revisions = 1;
  Server server(directory_ / "other", options);
  ASSERT_TRUE(ImportBytes(server.service(), file).ok());
  EXPECT_EQ(server->ListRevisions("wing", 0, 10)->revisions.size(), 3u);
}

}  // namespace
}  // namespace fidelio
