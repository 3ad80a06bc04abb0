#include "server/model/method_choice.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

TEST(MethodChoiceTest, AutoTakesMomentsForSmallData) {
  const auto choice = ChooseMethod(ModelKind::kMfDgp, Inference::kAuto, {2000, 10});
  ASSERT_TRUE(choice.ok()) << choice.status();
  EXPECT_EQ(choice->inference, Inference::kMoments);
  EXPECT_EQ(std::string(choice->method->name), "mf_dgp");
}

TEST(MethodChoiceTest, AutoTakesNeighboursForLargeDataAndSaysWhy) {
  const auto choice = ChooseMethod(ModelKind::kMfDgp, Inference::kAuto, {100, 2001, 10});
  ASSERT_TRUE(choice.ok()) << choice.status();
  EXPECT_EQ(choice->inference, Inference::kNeighbours);
  EXPECT_EQ(std::string(choice->method->name), "mf_dgp_neighbours");
  EXPECT_NE(choice->reason.find("level 1 has 2001 observations"), std::string::npos) << choice->reason;
}

TEST(MethodChoiceTest, OnlyTheHighestFidelityCountsForAGp) {
  EXPECT_EQ(ChooseMethod(ModelKind::kGp, Inference::kAuto, {100000, 10})->inference, Inference::kMoments);
  EXPECT_EQ(ChooseMethod(ModelKind::kGp, Inference::kAuto, {10, 100000})->inference, Inference::kNeighbours);
}

TEST(MethodChoiceTest, WhatIsAskedForIsTakenWhateverTheSize) {
  EXPECT_EQ(ChooseMethod(ModelKind::kMfDgp, Inference::kMoments, {100000, 10})->inference, Inference::kMoments);
  EXPECT_EQ(ChooseMethod(ModelKind::kMfDgp, Inference::kNeighbours, {10, 10})->inference, Inference::kNeighbours);
  EXPECT_TRUE(IsError(ChooseMethod(ModelKind::kAr1, Inference::kNeighbours, {10, 10}).status(),
                      absl::StatusCode::kInvalidArgument, {"options.inference", "NEIGHBOURS"}));
}

TEST(MethodChoiceTest, TheClassicModelsAverageOverHyperparametersUnlessThePointEstimateIsAskedFor) {
  for (const ModelKind kind : {ModelKind::kAr1, ModelKind::kAr1Recursive, ModelKind::kNargp, ModelKind::kDeepMf}) {
    const auto by_default = ChooseMethod(kind, Inference::kAuto, {10, 10});
    const auto asked = ChooseMethod(kind, Inference::kPointEstimate, {10, 10});
    ASSERT_TRUE(by_default.ok() && asked.ok()) << by_default.status() << asked.status();
    EXPECT_EQ(by_default->inference, Inference::kMoments);
    EXPECT_EQ(asked->inference, Inference::kPointEstimate);
    EXPECT_EQ(by_default->method, asked->method);
  }
}

}  // namespace
}  // namespace fidelio
