// fidelio revisions, revisions delete.
#include "client/cli/json.h"
#include "tests/client/cli/cli_testing.h"

namespace fidelio::cli {
namespace {

class RevisionsCliTest : public CliTest {
 protected:
  void SetUp() override {
    server_.emulator().list_revisions = [](grpc::ServerContext&, const v1::ListRevisionsRequest& request,
                                           v1::ListRevisionsResponse& response) {
      response.add_revisions()->set_name(request.parent() + "/revisions/7");
      return grpc::Status::OK;
    };
    server_.emulator().delete_revision = [this](grpc::ServerContext&, const v1::DeleteRevisionRequest& request,
                                                google::protobuf::Empty&) {
      deleted_ = request;
      if (request.name() == "models/wing/revisions/9") {
        return grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "models/wing/revisions/9: is the current revision");
      }
      return grpc::Status::OK;
    };
  }

  v1::DeleteRevisionRequest deleted_;
};

TEST_F(RevisionsCliTest, AreListedByTheNameOfTheModelAlone) {
  const Result result = Run({"revisions", "wing"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("\n7 "), std::string::npos) << result.out;
  EXPECT_EQ(deleted_.name(), "");
}

TEST_F(RevisionsCliTest, AreDeletedByTheirNumbers) {
  const Result result = Run({"revisions", "delete", "wing", "2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "revision 2 of model wing deleted\n");
  EXPECT_EQ(deleted_.name(), "models/wing/revisions/2");
  EXPECT_FALSE(deleted_.request_id().empty());
  EXPECT_EQ(Json::parse(Run({"revisions", "delete", "wing", "3", "--json"}).out)["deleted"], "models/wing/revisions/3");
}

TEST_F(RevisionsCliTest, TheCurrentOneIsNotDeleted) {
  const Result result = Run({"revisions", "delete", "wing", "9"});
  EXPECT_EQ(result.code, 6);
  EXPECT_EQ(result.err, "fidelio: revision 9 of model wing: is the current revision\n");
}

TEST_F(RevisionsCliTest, WrongCommandLinesAreUsageErrors) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"revisions"},
                                             {"revisions", "wing", "2"},
                                             {"revisions", "delete"},
                                             {"revisions", "delete", "wing"},
                                             {"revisions", "delete", "wing", "x"}}) {
    const Result result = Run(arguments);
    EXPECT_EQ(result.code, 2) << result.out;
    EXPECT_NE(result.err.find("see fidelio revisions"), std::string::npos) << result.err;
  }
  EXPECT_EQ(Run({"revisions", "wing", "2"}).err,
            "fidelio revisions: \"2\" is one argument too many; see fidelio revisions --help\n");
  EXPECT_EQ(deleted_.name(), "");
}

}  // namespace
}  // namespace fidelio::cli
