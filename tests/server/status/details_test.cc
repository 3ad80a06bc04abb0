#include "server/status/details.h"

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "gtest/gtest.h"

namespace fidelio {
namespace {

const char kNasty[] = "line\nbreak, tab\t, \"quotes\", \\n, ünïcode and \x01";

TEST(DetailsTest, ReturnsEveryDetailAsItWasAttached) {
  absl::Status status = absl::AbortedError("why");
  status = WithDetail(status, ResourceDetail{"model", kNasty});
  status = WithDetail(status, PreconditionDetail{"NO_DATA", "", kNasty});
  status = WithDetail(status, QuotaDetail{"token:a", kNasty});
  status = WithDetail(status, ReasonDetail{"ETAG_MISMATCH", {{"a", kNasty}, {"b", ""}}});
  status = WithRetryDelay(status, absl::Milliseconds(1500));

  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(status.message(), "why");
  const StatusDetails details = DetailsOf(status);
  ASSERT_TRUE(details.resource && details.precondition && details.quota && details.reason && details.retry_delay);
  EXPECT_EQ(details.resource->type, "model");
  EXPECT_EQ(details.resource->name, kNasty);
  EXPECT_EQ(details.precondition->type, "NO_DATA");
  EXPECT_EQ(details.precondition->subject, "");
  EXPECT_EQ(details.precondition->remedy, kNasty);
  EXPECT_EQ(details.quota->subject, "token:a");
  EXPECT_EQ(details.quota->description, kNasty);
  EXPECT_EQ(details.reason->reason, "ETAG_MISMATCH");
  EXPECT_EQ(details.reason->facts, (std::map<std::string, std::string>{{"a", kNasty}, {"b", ""}}));
  EXPECT_EQ(*details.retry_delay, absl::Milliseconds(1500));
}

TEST(DetailsTest, AStatusWithoutDetailsHasNone) {
  const StatusDetails details = DetailsOf(absl::InternalError("bug"));
  EXPECT_FALSE(details.resource || details.precondition || details.quota || details.reason || details.retry_delay);
}

TEST(DetailsTest, OkStaysOk) {
  EXPECT_TRUE(WithRetryDelay(WithDetail(absl::OkStatus(), ResourceDetail{"model", "models/a"}), absl::Seconds(1)).ok());
}

TEST(DetailsTest, PayloadsOfOthersAreIgnored) {
  absl::Status status = absl::NotFoundError("why");
  status.SetPayload("fidelio/resource", absl::Cord("one field only\n"));
  status.SetPayload("fidelio/precondition", absl::Cord("\\q is no escape\n\n\n"));
  status.SetPayload("fidelio/retry-milliseconds", absl::Cord("soon\n"));
  status.SetPayload("fidelio/reason", absl::Cord(""));
  const StatusDetails details = DetailsOf(status);
  EXPECT_FALSE(details.resource || details.precondition || details.reason || details.retry_delay);
}

}  // namespace
}  // namespace fidelio
