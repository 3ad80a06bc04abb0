#include "server/model/shortfall_reason.h"

#include "gtest/gtest.h"

namespace fidelio {
namespace {

std::string ReasonOf(Shortfall shortfall, size_t runs, const SuggestOptions& options, double spent,
                     int candidates = 8) {
  Suggestions chosen;
  chosen.runs.resize(runs);
  chosen.shortfall = shortfall;
  return ShortfallReason(chosen, options, candidates, spent, {"low", "high"});
}

TEST(ShortfallReasonTest, SaysWhatTheBudgetPaysFor) {
  const SuggestOptions options{.budget = 64, .costs = {10, 30}};
  EXPECT_EQ(ReasonOf(Shortfall::kNone, 3, options, 0), "");
  EXPECT_EQ(ReasonOf(Shortfall::kBudgetTooSmall, 0, {.budget = 4, .costs = {10, 30}}, 0),
            "The budget of 4 is below the cost of every fidelity that may be run: the cheapest, \"low\", costs 10.");
  EXPECT_EQ(ReasonOf(Shortfall::kBudgetSpent, 2, options, 60),
            "The budget is spent after 2 runs: 4 of 64 is left, and the cheapest fidelity, \"low\", costs 10.");
  EXPECT_EQ(ReasonOf(Shortfall::kBudgetSpent, 1, {.budget = 64, .costs = {10, 30}, .levels = {1}}, 40),
            "The budget is spent after 1 run: 24 of 64 is left, and the cheapest fidelity, \"high\", costs 30.");
  EXPECT_EQ(ReasonOf(Shortfall::kBudgetSpent, 1, options, 40),
            "24 of the budget of 64 is left after 1 run, and no run that it pays for would reduce the variance of the "
            "highest fidelity.");
}

TEST(ShortfallReasonTest, SaysWhenNothingIsLeftToLearn) {
  const SuggestOptions options{.costs = {10, 30}};
  EXPECT_EQ(ReasonOf(Shortfall::kNothingToLearn, 3, options, 0, 3),
            "After 3 runs, no run at any of the 3 candidates would reduce the variance of the highest fidelity.");
  EXPECT_EQ(ReasonOf(Shortfall::kNothingToLearn, 0, options, 0, 1),
            "No run at the one candidate would reduce the variance of the highest fidelity.");
}

}  // namespace
}  // namespace fidelio
