#include "core/dgp/moments/recipe.h"

#include <optional>
#include <vector>

#include "gtest/gtest.h"

namespace fidelio {
namespace {

TEST(StructuresTest, LargeDataGetFewerStructures) {
  EXPECT_EQ(DefaultStructures(KernelFamily::kRbf, {100}, 2).size(), 3u);
  EXPECT_EQ(DefaultStructures(KernelFamily::kRbf, {1000}, 2).size(), 1u);
  EXPECT_EQ(DefaultStructures(std::nullopt, {100}, 2).size(), 12u);
}

TEST(StructuresTest, TheHighestLevelStandsAloneOnlyWithPointsEnough) {
  const auto alone = [](const std::vector<int>& counts) {
    int count = 0;
    for (const Recipe& recipe : DefaultStructures(KernelFamily::kRbf, counts, 2)) count += recipe.first_level > 0;
    return count;
  };
  EXPECT_EQ(alone({40, 8}), 0);
  EXPECT_EQ(alone({40, 9}), 3);
  EXPECT_EQ(alone({40}), 0);
}

}  // namespace
}  // namespace fidelio
