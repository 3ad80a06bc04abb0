#include "client/cpp/retry.h"

#include <vector>

#include "absl/time/clock.h"
#include "client/cpp/errors.h"
#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"
#include "tests/client/support/fake_emulator.h"
#include "tests/support/status.h"

namespace fidelio::client {
namespace {

TEST(RetryTest, TriesAgainUntilTheServerAnswers) {
  int attempts = 0;
  EXPECT_TRUE(Retry({.first_delay = absl::Microseconds(10)}, absl::SleepFor, absl::InfiniteFuture(), [&] {
                return ++attempts < 4 ? absl::UnavailableError("") : absl::OkStatus();
              }).ok());
  EXPECT_EQ(attempts, 4);
}

TEST(RetryTest, OtherErrorsStandAtOnce) {
  int attempts = 0;
  EXPECT_TRUE(absl::IsResourceExhausted(Retry({}, absl::SleepFor, absl::InfiniteFuture(), [&] {
    ++attempts;
    return absl::ResourceExhaustedError("");
  })));
  EXPECT_EQ(attempts, 1);
}

TEST(RetryTest, DelaysGrowToTheLongestAndVary) {
  std::vector<absl::Duration> delays;
  const RetryPolicy policy{.first_delay = absl::Microseconds(100),
                           .multiplier = 2,
                           .longest_delay = absl::Microseconds(400),
                           .on_retry = [&](const absl::Status&, absl::Duration delay) { delays.push_back(delay); }};
  int attempts = 0;
  ASSERT_TRUE(Retry(policy, absl::SleepFor, absl::InfiniteFuture(), [&] {
                return ++attempts < 6 ? absl::UnavailableError("") : absl::OkStatus();
              }).ok());
  ASSERT_EQ(delays.size(), 5u);
  const std::vector<int> full = {100, 200, 400, 400, 400};
  for (size_t i = 0; i < delays.size(); ++i) {
    EXPECT_GE(delays[i], absl::Microseconds(full[i]) / 2);
    EXPECT_LE(delays[i], absl::Microseconds(full[i]));
  }
  EXPECT_FALSE(delays[2] == delays[3] && delays[3] == delays[4]);
}

TEST(RetryTest, ALongerDelayThatTheServerAsksForIsObeyed) {
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_nanos(3'000'000);
  const absl::Status error = ToStatus(ErrorWith(grpc::StatusCode::UNAVAILABLE, "", retry));
  absl::Duration delay;
  const RetryPolicy policy{.first_delay = absl::Microseconds(1),
                           .on_retry = [&](const absl::Status&, absl::Duration d) { delay = d; }};
  int attempts = 0;
  ASSERT_TRUE(Retry(policy, absl::SleepFor, absl::InfiniteFuture(), [&] {
                return ++attempts < 2 ? error : absl::OkStatus();
              }).ok());
  EXPECT_EQ(delay, absl::Milliseconds(3));
}

TEST(RetryTest, NeverWaitsPastTheDeadline) {
  const absl::Time begin = absl::Now();
  const RetryPolicy policy{.first_delay = absl::Hours(1), .longest_delay = absl::Hours(1)};
  EXPECT_TRUE(
      IsError(Retry(policy, absl::SleepFor, begin + absl::Minutes(1), [] { return absl::UnavailableError("gone"); }),
              absl::StatusCode::kUnavailable, {"gone"}));
}

TEST(RetryTest, GivesUpAndTellsHowOftenItTried) {
  const RetryPolicy policy{.first_delay = absl::Microseconds(10), .give_up_after = absl::Milliseconds(5)};
  EXPECT_TRUE(
      IsError(Retry(policy, absl::SleepFor, absl::InfiniteFuture(), [] { return absl::UnavailableError("gone"); }),
              absl::StatusCode::kUnavailable, {"gone\n  tried ", " times in "}));
}

TEST(RetryTest, APauseThatEndsEarlyIsNotMadeUpFor) {
  absl::Duration asked;
  int attempts = 0;
  const RetryPolicy policy{.first_delay = absl::Hours(1), .longest_delay = absl::Hours(1)};
  EXPECT_TRUE(Retry(
                  policy, [&](absl::Duration delay) { asked = delay; }, absl::InfiniteFuture(),
                  [&] { return ++attempts < 2 ? absl::UnavailableError("") : absl::OkStatus(); })
                  .ok());
  EXPECT_GE(asked, absl::Minutes(30));
}

TEST(RetryTest, PoliciesWithoutSenseAreRefused) {
  EXPECT_TRUE(Validate(RetryPolicy()).ok());
  EXPECT_TRUE(IsError(Validate({.first_delay = absl::ZeroDuration()}), absl::StatusCode::kInvalidArgument,
                      {"retry.first_delay: 0"}));
  EXPECT_TRUE(IsError(Validate({.first_delay = absl::Seconds(3)}), absl::StatusCode::kInvalidArgument,
                      {"retry.first_delay: 3s", "longest_delay, 2s"}));
  EXPECT_TRUE(IsError(Validate({.multiplier = 0.5}), absl::StatusCode::kInvalidArgument, {"retry.multiplier: 0.5"}));
}

}  // namespace
}  // namespace fidelio::client
