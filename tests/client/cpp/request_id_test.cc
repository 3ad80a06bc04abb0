#include "client/cpp/request_id.h"

#include <set>

#include "gtest/gtest.h"

namespace fidelio::client {
namespace {

TEST(RequestIdTest, NoTwoAreTheSameAndServersAcceptThem) {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) ids.insert(NewRequestId());
  EXPECT_EQ(ids.size(), 1000u);
  for (const std::string& id : ids) {
    EXPECT_EQ(id.size(), 32u);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
  }
}

}  // namespace
}  // namespace fidelio::client
