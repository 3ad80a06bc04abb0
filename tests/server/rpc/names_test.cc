#include "server/rpc/names.h"

#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

TEST(NamesTest, ParsesWhatItFormats) {
  for (const std::string& model :
       {std::string("a"), std::string("wing"), std::string("w-1--x9"), std::string(63, 'z')}) {
    EXPECT_EQ(*ParseModelName(ModelName(model), "name"), model);
    for (const int64_t number : {int64_t{1}, int64_t{42}, int64_t{9223372036854775807}}) {
      EXPECT_EQ(*ParseFitName(FitName(model, number), "name"), (ChildName{model, number}));
      EXPECT_EQ(*ParseRevisionName(RevisionName(model, number), "name"), (ChildName{model, number}));
    }
  }
}

TEST(NamesTest, FormatsAsTheContractSays) {
  EXPECT_EQ(ModelName("wing"), "models/wing");
  EXPECT_EQ(FitName("wing", 3), "models/wing/fits/3");
  EXPECT_EQ(RevisionName("wing", 12), "models/wing/revisions/12");
}

class BadModelIdTest : public ::testing::TestWithParam<std::string> {};

TEST_P(BadModelIdTest, IsRefusedEverywhere) {
  const auto bad = absl::StatusCode::kInvalidArgument;
  EXPECT_TRUE(IsError(ValidateModelId(GetParam(), "model_id"), bad, {"model_id: ", "[a-z]([a-z0-9-]{0,61}[a-z0-9])?"}));
  EXPECT_TRUE(IsError(ParseModelName("models/" + GetParam(), "name").status(), bad, {"name: ", "models/{model}"}));
  EXPECT_TRUE(IsError(ParseFitName(FitName(GetParam(), 1), "name").status(), bad, {"name: ", "/fits/{fit}"}));
  EXPECT_TRUE(IsError(ParseRevisionName(RevisionName(GetParam(), 1), "name").status(), bad, {"name: ", "/revisions/"}));
}

INSTANTIATE_TEST_SUITE_P(Ids, BadModelIdTest,
                         ::testing::Values("", "Wing", "1wing", "-wing", "wing-", "wi ng", "wi_ng", "wing/", "wïng",
                                           "wing\n", std::string(64, 'z'), std::string("wi\0ng", 5), "../etc"));

class BadNumberTest : public ::testing::TestWithParam<std::string> {};

TEST_P(BadNumberTest, IsRefusedWithTheRule) {
  EXPECT_TRUE(IsError(ParseFitName("models/wing/fits/" + GetParam(), "name").status(),
                      absl::StatusCode::kInvalidArgument,
                      {"name: \"models/wing/fits/", "is not models/{model}/fits/{fit}", "a number from 1 at the end"}));
}

INSTANTIATE_TEST_SUITE_P(Numbers, BadNumberTest,
                         ::testing::Values("", "0", "01", "-1", "+1", " 1", "1 ", "1x", "x", "1/2", "1/", "1.0", "0x1",
                                           "9223372036854775808", "99999999999999999999"));

TEST(NamesTest, RefusesNamesOfOtherKinds) {
  const auto bad = absl::StatusCode::kInvalidArgument;
  EXPECT_TRUE(IsError(ParseModelName("models/wing/fits/1", "parent").status(), bad,
                      {"parent: \"models/wing/fits/1\" is not models/{model}"}));
  EXPECT_TRUE(IsError(ParseModelName("wing", "model").status(), bad, {"model: \"wing\" is not models/{model}"}));
  EXPECT_TRUE(IsError(ParseModelName("", "model").status(), bad, {"model: missing, must be models/{model}"}));
  EXPECT_FALSE(ParseFitName("models/wing/revisions/1", "name").ok());
  EXPECT_FALSE(ParseRevisionName("models/wing/fits/1", "name").ok());
  EXPECT_FALSE(ParseModelName("/models/wing", "name").ok());
}

TEST(NamesTest, MessagesStayShortAndOnOneLine) {
  const absl::Status status = ParseModelName("models/" + std::string(1 << 20, '\n'), "name").status();
  EXPECT_LT(status.message().size(), 600u);
  EXPECT_EQ(status.message().find('\n'), absl::string_view::npos);
}

TEST(NamesTest, ARevisionBelongsToTheModelOfTheRequest) {
  EXPECT_EQ(*ParseRevisionOf("wing", "", "revision"), 0);
  EXPECT_EQ(*ParseRevisionOf("wing", "models/wing/revisions/7", "revision"), 7);
  EXPECT_TRUE(IsError(
      ParseRevisionOf("wing", "models/tail/revisions/7", "revision").status(), absl::StatusCode::kInvalidArgument,
      {"revision: \"models/tail/revisions/7\" is a revision of another model, must be one of models/wing"}));
  EXPECT_FALSE(ParseRevisionOf("wing", "7", "revision").ok());
}

TEST(NamesTest, RequestIdsAreShortAndPlain) {
  EXPECT_TRUE(ValidateRequestId("", "request_id").ok());
  EXPECT_TRUE(ValidateRequestId("A-z_0.9", "request_id").ok());
  EXPECT_TRUE(ValidateRequestId(std::string(64, 'x'), "request_id").ok());
  for (const std::string& id : {std::string(65, 'x'), std::string("a b"), std::string("ä"), std::string("a/b")}) {
    EXPECT_TRUE(IsError(ValidateRequestId(id, "request_id"), absl::StatusCode::kInvalidArgument,
                        {"request_id: \"", "at most 64 characters of [A-Za-z0-9_.-]"}));
  }
}

}  // namespace
}  // namespace fidelio
