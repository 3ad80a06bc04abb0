// Request ids: the first answer again, also after a restart; another request with the same id is an error.
#include <functional>
#include <map>
#include <string>

#include "server/model/codec.h"
#include "tests/server/model/service_testing.h"

namespace fidelio {
namespace {

using Call = std::function<absl::StatusOr<std::string>(ModelService&, const MutationContext&)>;

// The answer as bytes, so that all calls can be compared alike.
template <typename T>
absl::StatusOr<std::string> Bytes(const absl::StatusOr<T>& answer) {
  if (!answer.ok()) return answer.status();
  return Encode(*answer);
}

// Every mutation, for a model "wing" that has been fitted twice.
const std::map<std::string, Call>& Mutations() {
  static const auto* const kCalls = new std::map<std::string, Call>{
      {"CreateModel",
       [](ModelService& s, const MutationContext& c) { return Bytes(s.CreateModel(c, "new", SpecOf(2, 1))); }},
      {"UpdateModel",
       [](ModelService& s, const MutationContext& c) {
         return Bytes(s.UpdateModel(c, "wing", "", {.description = "a wing"}));
       }},
      {"DeleteModel",
       [](ModelService& s, const MutationContext& c) -> absl::StatusOr<std::string> {
         const absl::Status status = s.DeleteModel(c, "wing", "");
         if (!status.ok()) return status;
         return "";
       }},
      {"AddObservations",
       [](ModelService& s, const MutationContext& c) {
         return Bytes(s.AddObservations(c, "wing", "", Batches({1, 1}, 1, 3)));
       }},
      {"Fit", [](ModelService& s, const MutationContext& c) { return Bytes(s.StartFit(c, "wing", "", {.seed = 3})); }},
      {"CancelFit", [](ModelService& s, const MutationContext& c) { return Bytes(s.CancelFit(c, "wing", 1)); }},
      {"RollbackModel",
       [](ModelService& s, const MutationContext& c) { return Bytes(s.RollbackModel(c, "wing", "", 1)); }},
      {"ImportModel",
       [](ModelService& s, const MutationContext& c) {
         return Bytes(ImportBytes(s, ExportBytes(s, "tail"), "copy", c));
       }},
  };
  return *kCalls;
}

class RequestsTest : public ::testing::TestWithParam<std::string> {
 protected:
  void Prepare(Server& server) {
    MakeModel(server.service(), "wing");
    RunFit(server.service(), "wing", {.budget_iterations = 5});
    RunFit(server.service(), "wing", {.budget_iterations = 5, .seed = 1});
    MakeModel(server.service(), "tail");
  }

  TempDirectory directory_;
};

TEST_P(RequestsTest, TheSameRequestGivesTheFirstAnswerAlsoAfterARestart) {
  const Call& call = Mutations().at(GetParam());
  std::string first;
  {
    Server server(directory_.path());
    Prepare(server);
    const auto answer = call(server.service(), Request("id-1", "body"));
    ASSERT_TRUE(answer.ok()) << answer.status();
    first = *answer;
    EXPECT_EQ(*call(server.service(), Request("id-1", "body")), first);
  }
  Server server(directory_.path());
  const auto again = call(server.service(), Request("id-1", "body"));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, first);
}

TEST_P(RequestsTest, AnotherRequestWithTheSameIdIsRefused) {
  const Call& call = Mutations().at(GetParam());
  Server server(directory_.path());
  Prepare(server);
  ASSERT_TRUE(call(server.service(), Request("id-1", "body")).ok());
  EXPECT_TRUE(IsError(call(server.service(), Request("id-1", "another body")).status(),
                      absl::StatusCode::kInvalidArgument, {"request_id: \"id-1\"", "another request"}));
  // Ids of others are theirs.
  const absl::Status other = call(server.service(), Request("id-1", "another body", "bob")).status();
  EXPECT_FALSE(absl::IsInvalidArgument(other)) << other;
}

TEST_P(RequestsTest, AnIdThatIsNoneIsRefused) {
  Server server(directory_.path());
  Prepare(server);
  EXPECT_TRUE(IsError(Mutations().at(GetParam())(server.service(), Request("two words", "")).status(),
                      absl::StatusCode::kInvalidArgument, {"request_id: \"two words\"", "[A-Za-z0-9_.-]"}));
}

INSTANTIATE_TEST_SUITE_P(Mutations, RequestsTest,
                         ::testing::Values("CreateModel", "UpdateModel", "DeleteModel", "AddObservations", "Fit",
                                           "CancelFit", "RollbackModel", "ImportModel"),
                         [](const auto& mutation) { return mutation.param; });

class RepliesTest : public ::testing::Test {
 protected:
  TempDirectory directory_;
};

TEST_F(RepliesTest, ARetryAddsNoObservations) {
  Server server(directory_.path());
  MakeModel(server.service(), "wing");
  for (int i = 0; i < 3; ++i) {
    const auto answer = server->AddObservations(Request("retry", "x"), "wing", "", Batches({1, 1}, 1, 3));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->data_version, 2);
  }
  EXPECT_EQ(server->GetModel("wing")->observation_counts, (std::vector<int64_t>{9, 5}));
}

TEST_F(RepliesTest, ErrorsAreNotRemembered) {
  Server server(directory_.path());
  EXPECT_EQ(server->AddObservations(Request("id", "x"), "wing", "", Batches(kSizes, 1)).status().code(),
            absl::StatusCode::kNotFound);
  ASSERT_TRUE(server->CreateModel(Request(), "wing", SpecOf(1, 2)).ok());
  EXPECT_TRUE(server->AddObservations(Request("id", "x"), "wing", "", Batches(kSizes, 1)).ok());
}

TEST_F(RepliesTest, AnAnswerGoesWithItsModel) {
  Server server(directory_.path());
  ASSERT_TRUE(server->CreateModel(Request("make", "x"), "wing", SpecOf(1, 2)).ok());
  ASSERT_TRUE(server->DeleteModel(Request(), "wing", "").ok());
  EXPECT_TRUE(IsError(server->CreateModel(Request("make", "x"), "wing", SpecOf(1, 2)).status(),
                      absl::StatusCode::kNotFound, {"request_id", "deleted since"}));
}

TEST_F(RepliesTest, TheAnswerIsTheFirstOneWhateverHasChangedSince) {
  Server server(directory_.path());
  MakeModel(server.service(), "wing");
  const auto fit = server->StartFit(Request("fit", "x"), "wing", "", {.budget_iterations = 3});
  ASSERT_TRUE(fit.ok()) << fit.status();
  AwaitFit(server.service(), "wing", fit->id);
  const auto again = server->StartFit(Request("fit", "x"), "wing", "", {.budget_iterations = 3});
  EXPECT_EQ(again->state, FitState::kPending);
  EXPECT_EQ(server->ListFits("wing", 0, 10)->fits.size(), 1u);
}

}  // namespace
}  // namespace fidelio
