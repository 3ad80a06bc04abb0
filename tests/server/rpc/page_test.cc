#include "server/rpc/page.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "gtest/gtest.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

bool IsRefused(absl::string_view scope, absl::string_view token) {
  return static_cast<bool>(IsError(DecodePageToken(scope, token).status(), absl::StatusCode::kInvalidArgument,
                                   {"page_token: ", "next_page_token of this list"}));
}

TEST(PageTokenTest, BringsTheCursorBack) {
  for (const std::string& cursor : {std::string("wing"), std::string("\0\xff", 2), std::string(512, 'x')}) {
    EXPECT_EQ(*DecodePageToken("ListModels", EncodePageToken("ListModels", cursor)), cursor);
  }
}

TEST(PageTokenTest, NoTokenIsTheFirstPage) { EXPECT_EQ(*DecodePageToken("ListModels", ""), ""); }

TEST(PageTokenTest, IsMadeOfCharactersThatNeedNoEscapes) {
  for (const char c : EncodePageToken("ListModels", "\xfb\xff\xfe>>>>>>")) {
    EXPECT_TRUE(absl::ascii_isalnum(c) || c == '-' || c == '_') << c;
  }
}

TEST(PageTokenTest, BelongsToItsListAlone) {
  const std::string token = EncodePageToken("ListFits models/wing", "7");
  EXPECT_TRUE(IsRefused("ListFits models/tail", token));
  EXPECT_TRUE(IsRefused("ListRevisions models/wing", token));
  // What is scope and what is cursor is not mixed up.
  EXPECT_TRUE(IsRefused("ListFits models/win", EncodePageToken("ListFits models/wing", "g7")));
}

TEST(PageTokenTest, EveryChangeOfACharacterIsNoticed) {
  const std::string token = EncodePageToken("ListModels", "wing");
  for (size_t i = 0; i < token.size(); ++i) {
    for (const char c : {'A', 'b', '7', '_', '=', ' ', '\0', '\xff'}) {
      std::string changed = token;
      if (changed[i] == c) continue;
      changed[i] = c;
      EXPECT_TRUE(IsRefused("ListModels", changed)) << i << " " << c;
    }
    EXPECT_TRUE(i == 0 || IsRefused("ListModels", token.substr(0, i)));
  }
  EXPECT_TRUE(IsRefused("ListModels", token + "A"));
  EXPECT_TRUE(IsRefused("ListModels", token + "="));
}

TEST(PageTokenTest, ForeignTokensAreRefused) {
  for (const std::string& token :
       {std::string("abc"), std::string("1"), std::string("%%%"), std::string(1 << 20, 'A')}) {
    EXPECT_TRUE(IsRefused("ListModels", token)) << token.substr(0, 10);
  }
}

TEST(PageSizeTest, IsTheStandardForZeroAndCappedAtTheLargest) {
  EXPECT_EQ(*PageSize(0, 100, 1000), 100);
  EXPECT_EQ(*PageSize(1, 100, 1000), 1);
  EXPECT_EQ(*PageSize(1000, 100, 1000), 1000);
  EXPECT_EQ(*PageSize(2147483647, 100, 1000), 1000);
  EXPECT_TRUE(IsError(PageSize(-1, 100, 1000).status(), absl::StatusCode::kInvalidArgument,
                      {"page_size: -1, must not be negative"}));
}

}  // namespace
}  // namespace fidelio
