#include "server/rpc/memory_budget.h"

#include <utility>

#include "gtest/gtest.h"
#include "server/status/details.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

TEST(MemoryBudgetTest, GivesOutWhatItHasAndTakesItBack) {
  MemoryBudget budget(100);
  {
    auto first = budget.Reserve(60);
    ASSERT_TRUE(first.ok());
    const auto second = budget.Reserve(41);
    EXPECT_TRUE(IsError(second.status(), absl::StatusCode::kResourceExhausted, {"41 bytes", "have 60", "of the 100"}));
    EXPECT_TRUE(DetailsOf(second.status()).retry_delay.has_value());
    EXPECT_TRUE(budget.Reserve(40).ok());
    const MemoryBudget::Reservation moved = *std::move(first);
    EXPECT_FALSE(budget.Reserve(41).ok());
  }
  EXPECT_TRUE(budget.Reserve(100).ok());
}

TEST(MemoryBudgetTest, GivesEverythingToACallThatNeedsMoreWhenItIsAlone) {
  MemoryBudget budget(100);
  const auto all = budget.Reserve(1000);
  ASSERT_TRUE(all.ok());
  EXPECT_FALSE(budget.Reserve(1).ok());
}

}  // namespace
}  // namespace fidelio
