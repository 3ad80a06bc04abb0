#include "client/cpp/names.h"

#include "gtest/gtest.h"

namespace fidelio::client {
namespace {

TEST(NamesTest, ShortAndFullNamesMeanTheSame) {
  EXPECT_EQ(ModelName("wing"), "models/wing");
  EXPECT_EQ(ModelName("models/wing"), "models/wing");
  EXPECT_EQ(FitName("wing", "3"), "models/wing/fits/3");
  EXPECT_EQ(FitName("models/wing", "3"), "models/wing/fits/3");
  EXPECT_EQ(FitName("wing", "models/wing/fits/3"), "models/wing/fits/3");
  EXPECT_EQ(RevisionName("wing", "7"), "models/wing/revisions/7");
}

TEST(NamesTest, TheShortNameIsTheLastPart) {
  EXPECT_EQ(ShortName("models/wing/fits/3"), "3");
  EXPECT_EQ(ShortName("wing"), "wing");
  EXPECT_EQ(ShortName(""), "");
}

}  // namespace
}  // namespace fidelio::client
