#include "server/rpc/call_gate.h"

#include "gtest/gtest.h"
#include "server/status/details.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

using Kind = CallGate::Kind;
constexpr CallGate::Limits kLimits{.max_streams = 2, .max_watches = 1};

TEST(CallGateTest, RefusesCallsOnceItIsClosedAndSaysWhenToComeBack) {
  CallGate gate(kLimits);
  EXPECT_TRUE(gate.Enter(Kind::kUnary).ok());
  gate.Close(absl::Seconds(7));
  EXPECT_TRUE(gate.closed());
  const absl::Status refused = gate.Enter(Kind::kUnary);
  EXPECT_TRUE(IsError(refused, absl::StatusCode::kUnavailable, {"shutting down"}));
  EXPECT_EQ(DetailsOf(refused).retry_delay, absl::Seconds(7));
}

TEST(CallGateTest, LimitsStreamsAndWatchesApartFromUnaryCalls) {
  CallGate gate(kLimits);
  EXPECT_TRUE(gate.Enter(Kind::kStream).ok());
  EXPECT_TRUE(gate.Enter(Kind::kStream).ok());
  EXPECT_TRUE(IsError(gate.Enter(Kind::kStream), absl::StatusCode::kResourceExhausted, {"streams: 2", "at most 2"}));
  EXPECT_TRUE(gate.Enter(Kind::kWatch).ok());
  EXPECT_TRUE(IsError(gate.Enter(Kind::kWatch), absl::StatusCode::kResourceExhausted, {"watches: 1", "at most 1"}));
  EXPECT_TRUE(gate.Enter(Kind::kUnary).ok());
  gate.Leave(Kind::kStream);
  EXPECT_TRUE(gate.Enter(Kind::kStream).ok());
}

TEST(CallGateTest, DrainsWhenAllThatIsLeftWaitsForItsClients) {
  CallGate gate(kLimits);
  EXPECT_TRUE(gate.AwaitDrained(absl::InfinitePast()));
  ASSERT_TRUE(gate.Enter(Kind::kStream).ok());
  EXPECT_TRUE(gate.AwaitUnary(absl::InfinitePast()));
  EXPECT_FALSE(gate.AwaitDrained(absl::InfinitePast()));
  {
    const CallGate::Waiting waiting(&gate);
    EXPECT_TRUE(gate.AwaitDrained(absl::InfinitePast()));
    ASSERT_TRUE(gate.Enter(Kind::kUnary).ok());
    EXPECT_FALSE(gate.AwaitUnary(absl::InfinitePast()));
    EXPECT_FALSE(gate.AwaitDrained(absl::InfinitePast()));
    gate.Leave(Kind::kUnary);
  }
  EXPECT_FALSE(gate.AwaitDrained(absl::InfinitePast()));
  gate.Leave(Kind::kStream);
  EXPECT_TRUE(gate.AwaitDrained(absl::InfinitePast()));
}

}  // namespace
}  // namespace fidelio
