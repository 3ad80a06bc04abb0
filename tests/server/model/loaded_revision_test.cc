#include "server/model/loaded_revision.h"

#include "gtest/gtest.h"

namespace fidelio {
namespace {

TEST(LoadedRevisionTest, TimeOfAPointFollowsShorterOnesAtOnceAndLongerOnesSlowly) {
  const LoadedRevision revision(RevisionInfo{}, /*fidelities=*/1, /*emulator=*/nullptr, /*bytes=*/0);
  EXPECT_EQ(revision.PointTime(), absl::InfiniteDuration());
  revision.RecordPointTime(absl::Microseconds(900));
  EXPECT_EQ(revision.PointTime(), absl::Microseconds(900));
  revision.RecordPointTime(absl::Microseconds(40));
  EXPECT_EQ(revision.PointTime(), absl::Microseconds(40));
  revision.RecordPointTime(absl::Milliseconds(4));  // other work got in between
  EXPECT_LT(revision.PointTime(), absl::Microseconds(300));
  for (int i = 0; i < 100; ++i) revision.RecordPointTime(absl::Milliseconds(4));
  EXPECT_GT(revision.PointTime(), absl::Milliseconds(3));
}

}  // namespace
}  // namespace fidelio
