#include "server/status/errors.h"

#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "server/status/details.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

TEST(ErrorsTest, NameTheResourceTheValueAndTheRule) {
  EXPECT_TRUE(IsError(ResourceNotFoundError("fit", "models/wing/fits/3"), absl::StatusCode::kNotFound,
                      {"models/wing/fits/3: no such fit"}));
  EXPECT_TRUE(IsError(ResourceExistsError("model", "models/wing"), absl::StatusCode::kAlreadyExists,
                      {"models/wing: a model with this name already exists"}));
  EXPECT_TRUE(IsError(DamagedResourceError("model", "models/wing", "checkpoint 2 fails its SHA-256"),
                      absl::StatusCode::kDataLoss, {"models/wing: checkpoint 2 fails its SHA-256"}));
  EXPECT_TRUE(IsError(PreconditionError("NO_REVISION", "models/wing", "has no revision yet", "start a fit"),
                      absl::StatusCode::kFailedPrecondition, {"models/wing: has no revision yet; start a fit"}));
  EXPECT_TRUE(IsError(EtagMismatchError("models/wing", "a", "b"), absl::StatusCode::kAborted,
                      {"models/wing: etag \"a\" is outdated, it is \"b\" now"}));
  EXPECT_TRUE(IsError(ConcurrentChangeError("models/wing", "deleted meanwhile"), absl::StatusCode::kAborted,
                      {"models/wing: deleted meanwhile"}));
  EXPECT_TRUE(IsError(ExhaustedError("the queue has 8 fits, and 8 are allowed", absl::Seconds(5)),
                      absl::StatusCode::kResourceExhausted, {"the queue has 8 fits, and 8 are allowed"}));
  EXPECT_TRUE(IsError(QuotaExceededError("token:alice", "10 models, and 10 are allowed"),
                      absl::StatusCode::kResourceExhausted, {"token:alice: 10 models, and 10 are allowed"}));
  EXPECT_TRUE(IsError(DrainingError(absl::Seconds(2)), absl::StatusCode::kUnavailable, {"shutting down"}));
}

TEST(ErrorsTest, AttachTheDetailOfTheirRow) {
  EXPECT_EQ(DetailsOf(ResourceNotFoundError("fit", "models/wing/fits/3")).resource->name, "models/wing/fits/3");
  EXPECT_EQ(DetailsOf(ResourceExistsError("model", "models/wing")).resource->type, "model");
  EXPECT_EQ(DetailsOf(DamagedResourceError("model", "models/wing", "x")).resource->name, "models/wing");
  EXPECT_EQ(DetailsOf(PreconditionError("NO_REVISION", "models/wing", "x", "start a fit")).precondition->remedy,
            "start a fit");
  EXPECT_EQ(DetailsOf(EtagMismatchError("models/wing", "a", "b")).reason->facts.at("current_etag"), "b");
  EXPECT_EQ(DetailsOf(ConcurrentChangeError("models/wing", "x")).reason->reason, "CONCURRENT_CHANGE");
  EXPECT_EQ(DetailsOf(ExhaustedError("x", absl::Seconds(5))).retry_delay, absl::Seconds(5));
  EXPECT_EQ(DetailsOf(QuotaExceededError("token:alice", "x")).quota->subject, "token:alice");
  EXPECT_EQ(DetailsOf(DrainingError(absl::Seconds(2))).retry_delay, absl::Seconds(2));
}

TEST(QuotedTest, EscapesWhatWouldBreakALine) {
  EXPECT_EQ(Quoted("a\nb\"c"), R"("a\nb\"c")");
  EXPECT_EQ(Quoted(std::string("\x1b[0m\0x", 6)), R"("\x1b[0m\x00x")");
  EXPECT_EQ(Quoted("größe"), "\"größe\"");
}

TEST(QuotedTest, CutsLongTextBetweenCharacters) {
  EXPECT_EQ(Quoted("abcdef", 6), "\"abcdef\"");
  EXPECT_EQ(Quoted("abcdefg", 6), "\"abcdef…\" (7 bytes)");
  EXPECT_EQ(Quoted("abcdeü", 6), "\"abcde…\" (7 bytes)");
}

}  // namespace
}  // namespace fidelio
