#include "core/base/random_streams.h"

#include <set>

#include "core/base/random.h"
#include "gtest/gtest.h"

namespace fidelio {
namespace {

TEST(RandomStreamsTest, TheTableListsEveryUseInOrder) {
  for (size_t k = 0; k < kRandomBlocks.size(); ++k) EXPECT_EQ(static_cast<size_t>(kRandomBlocks[k].use), k);
  EXPECT_EQ(static_cast<size_t>(RandomUse::kFunctionStack) + 1, kRandomBlocks.size());
}

TEST(RandomStreamsTest, NoTwoUsesShareAStream) {
  for (const RandomBlock& a : kRandomBlocks) {
    EXPECT_GE(a.count, 1u);
    EXPECT_GE(a.first + a.count, a.first);  // no wrap-around
    for (const RandomBlock& b : kRandomBlocks) {
      if (a.use == b.use) continue;
      EXPECT_TRUE(a.first + a.count <= b.first || b.first + b.count <= a.first)
          << static_cast<size_t>(a.use) << " and " << static_cast<size_t>(b.use);
    }
  }
}

TEST(RandomStreamsTest, ChainsAndPathsOfOneSeedDrawDifferentNumbers) {
  std::set<uint64_t> seen;
  for (uint32_t chain = 0; chain < 16; ++chain) {
    EXPECT_TRUE(seen.insert(Random(0, StreamOf(RandomUse::kHmc, chain)).NextBits()).second);
  }
  for (const RandomUse use : {RandomUse::kPathComponent, RandomUse::kPathNormal, RandomUse::kFunction}) {
    EXPECT_TRUE(seen.insert(Random(0, StreamOf(use)).NextBits()).second);
  }
}

TEST(RandomStreamsTest, DesignsOfAllLevelsHaveStreamsOfTheirOwn) {
  std::set<uint32_t> seen;
  for (uint32_t level = 0; level < 256; ++level) EXPECT_TRUE(seen.insert(DesignStream(level)).second) << level;
  EXPECT_EQ(DesignStream(0), 1u);  // what designs were made with before there was a table
}

}  // namespace
}  // namespace fidelio
