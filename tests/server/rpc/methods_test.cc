#include "server/rpc/methods.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace fidelio {
namespace {

TEST(MethodsTest, NamesAreThoseOfTheContract) {
  const std::vector<std::string> names = MethodNames();
  EXPECT_EQ(names.size(), 28u);
  for (const Method& method : {methods::kCreateModel, methods::kPredictStream, methods::kSampleDpp, methods::kSuggest,
                               methods::kDiagnose, methods::kGetServerInfo}) {
    EXPECT_EQ(std::count(names.begin(), names.end(), method.name), 1) << method.name;
  }
}

}  // namespace
}  // namespace fidelio
