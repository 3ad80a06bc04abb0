#include "server/auth/token_table.h"

#include <gtest/gtest.h>

#include "absl/strings/str_split.h"

namespace fidelio {
namespace {

std::string DigestText(std::string_view token) { return FormatDigest(DigestOf(token)); }

TEST(TokenTableTest, FindsThePrincipalOfAToken) {
  const auto table = TokenTable::Parse(
      "# tokens\n\n  ci\twriter " + DigestText("one") +
          " prefix=wing- max_models=10 max_observations=0 max_concurrent_fits=2 # comment\r\nops admin " +
          DigestText("two"),
      "tokens");
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_EQ(table->size(), 2u);
  ASSERT_NE(table->Find("one"), nullptr);
  EXPECT_EQ(*table->Find("one"),
            (Principal{.name = "ci",
                       .role = Role::kWriter,
                       .prefix = "wing-",
                       .quotas = {.max_models = 10, .max_observations = 0, .max_concurrent_fits = 2}}));
  ASSERT_NE(table->Find("two"), nullptr);
  EXPECT_EQ(*table->Find("two"), (Principal{.name = "ops", .role = Role::kAdmin}));
}

TEST(TokenTableTest, FindsNothingForOtherTokens) {
  const auto table = TokenTable::Parse("ci writer " + DigestText("one"), "tokens");
  ASSERT_TRUE(table.ok());
  for (const std::string& token : {std::string(), std::string("on"), std::string("one "), DigestText("one"),
                                   DigestText("one").substr(7), std::string("one\0", 4)}) {
    EXPECT_EQ(table->Find(token), nullptr) << token;
  }
}

TEST(TokenTableTest, ReportsEveryProblemWithItsLine) {
  const std::string text =
      "a b\n"  // 1: too few words
      "näme reader " +
      DigestText("1") +
      "\n"  // 2: bad name
      "root owner " +
      DigestText("2") +
      "\n"                                          // 3: bad role
      "c reader secret-token-in-the-wrong-place\n"  // 4: no digest
      "d reader " +
      DigestText("4") +
      " max_models=-1 max_cats=1\n"  // 5: two bad options
      "d reader " +
      DigestText("4") +
      " prefix=Wing\n"  // 6: same name, same digest, prefix
      "e reader " +
      DigestText("5") + " max_models=1 max_models=2\n";
  const auto table = TokenTable::Parse(text, "tokens");
  ASSERT_EQ(table.status().code(), absl::StatusCode::kInvalidArgument);
  const std::vector<std::string> problems = absl::StrSplit(table.status().message(), '\n');
  const std::vector<std::string> expected = {
      "tokens:1: 2 words; a line must have name, role and digest",
      "tokens:2: name \"näme\" must be 1 to 64 letters",
      "tokens:3: role \"owner\" must be reader, writer or admin",
      "tokens:4: digest of 31 characters must be sha256: and 64 hexadecimal digits",
      "tokens:5: option \"max_models=-1\" must be an integer of at least 0",
      "tokens:5: option \"max_cats=1\" must be prefix=",
      "tokens:6: digest \"sha256:",
      "tokens:6: name \"d\" is that of line 5 already",
      "tokens:6: option \"prefix=Wing\" must be the beginning of a model's name",
      "tokens:7: option \"max_models=2\" must appear once",
  };
  ASSERT_EQ(problems.size(), expected.size()) << table.status();
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(problems[i].substr(0, expected[i].size()), expected[i]);
  EXPECT_EQ(table.status().message().find("secret-token"), std::string::npos) << "tokens are never repeated";
}

TEST(TokenTableTest, GoodLinesStandAmongBadOnes) {
  const ParsedTokens parsed = TokenTable::ParseLines(
      "a reader " + DigestText("1") + "\nb owner " + DigestText("2") + "\na admin " + DigestText("3") + "\nc admin " +
          DigestText("1") + "\nd reader " + DigestText("4") + " max_models=x\n",
      "tokens");
  EXPECT_EQ(parsed.problems.size(), 4u);
  EXPECT_EQ(parsed.table.size(), 1u);
  ASSERT_NE(parsed.table.Find("1"), nullptr);
  EXPECT_EQ(parsed.table.Find("1")->role, Role::kReader);
  EXPECT_EQ(parsed.table.FindName("a"), parsed.table.Find("1"));
  EXPECT_EQ(parsed.table.FindName("b"), nullptr);
}

TEST(TokenTableTest, ATableWithoutTokensIsAProblem) {
  EXPECT_EQ(TokenTable::Parse("# nothing\n", "tokens").status().message(), "tokens: must have at least one token");
}

}  // namespace
}  // namespace fidelio
