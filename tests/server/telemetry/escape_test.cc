#include "server/telemetry/escape.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace fidelio {
namespace {

TEST(EscapeForLogTest, LeavesPlainTextAlone) {
  EXPECT_EQ(EscapeForLog(""), "");
  EXPECT_EQ(EscapeForLog("models/wing-7 (β, 翼, 🛩)"), "models/wing-7 (β, 翼, 🛩)");
}

TEST(EscapeForLogTest, EscapesWhatWouldEndALineOrAString) {
  EXPECT_EQ(EscapeForLog("a\"b\\c\nd\re\tf"), "a\\\"b\\\\c\\nd\\re\\tf");
  EXPECT_EQ(EscapeForLog(std::string_view("\0\x1b[2J\x7f", 6)), "\\u0000\\u001b[2J\\u007f");
  EXPECT_EQ(EscapeForLog("\xC2\x85|\xE2\x80\xA8|\xE2\x80\xAE"), "\\u0085|\\u2028|\\u202e");
}

TEST(EscapeForLogTest, ReplacesEveryByteThatIsNotUtf8) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(EscapeForLog("a\xFF"), "a" + bad);
  EXPECT_EQ(EscapeForLog("\xC0\x80"), bad + bad) << "overlong";
  EXPECT_EQ(EscapeForLog("\xED\xA0\x80"), bad + bad + bad) << "surrogate";
  EXPECT_EQ(EscapeForLog("\xF4\x90\x80\x80"), bad + bad + bad + bad) << "beyond Unicode";
  EXPECT_EQ(EscapeForLog("\xE2\x82"), bad + bad) << "cut off";
  EXPECT_EQ(EscapeForLog("\xE0\x9F\xBFz"), bad + bad + bad + "z") << "overlong";
}

TEST(EscapeForLogTest, CutsLongValuesAtACharacter) {
  EXPECT_EQ(EscapeForLog("abcdef", 6), "abcdef");
  EXPECT_EQ(EscapeForLog("abcdefg", 6), "abcdef...");
  EXPECT_EQ(EscapeForLog("abcdeß", 6), "abcde...");
  EXPECT_LE(EscapeForLog(std::string(1 << 20, '\0')).size(), 256u * 6 + 3);
}

TEST(EscapeForLogTest, AnythingIsAJsonStringOnOneLine) {
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string value(random() % 12, '\0');
    for (char& c : value) c = static_cast<char>(random());
    const std::string escaped = EscapeForLog(value);
    ASSERT_TRUE(nlohmann::json::accept("\"" + escaped + "\"")) << escaped;
    for (const char c : escaped) ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
  }
}

}  // namespace
}  // namespace fidelio
