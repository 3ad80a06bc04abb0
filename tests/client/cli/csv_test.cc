#include "client/cli/csv.h"

#include <sstream>

#include "gtest/gtest.h"

namespace fidelio::cli {
namespace {

absl::StatusOr<CsvTable> Parse(const std::string& text) { return CsvTable::Parse("runs.csv", text); }

::testing::AssertionResult Refused(const absl::Status& status, const std::string& message) {
  if (status.code() == absl::StatusCode::kInvalidArgument && status.message() == message) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << status;
}

TEST(CsvTest, ReadsHeaderAndNumbers) {
  const auto table = Parse("x1,y\n0.5,1e-3\n-2,+3\n");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->columns(), std::vector<std::string>({"x1", "y"}));
  ASSERT_EQ(table->rows(), 2);
  EXPECT_EQ(*table->Number(0, 1), 1e-3);
  EXPECT_EQ(*table->Number(1, 0), -2);
  EXPECT_EQ(*table->Number(1, 1), 3);
  EXPECT_EQ(table->Column("y"), 1);
  EXPECT_EQ(table->Column("z"), -1);
}

TEST(CsvTest, WhatSpreadsheetsAndSystemsAddDoesNotMatter) {
  const auto table = Parse("\xEF\xBB\xBF\"x1\" , \"y\"\r\n\r\n 1 ,\"2\"\r\n");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->columns(), std::vector<std::string>({"x1", "y"}));
  ASSERT_EQ(table->rows(), 1);
  EXPECT_EQ(*table->Number(0, 0), 1);
  EXPECT_EQ(*table->Number(0, 1), 2);
}

TEST(CsvTest, QuotedFieldsMayHaveCommasAndQuotes) {
  const auto table = Parse("name,y\n\"a, \"\"b\"\"\",1\n");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->Text(0, 0), "a, \"b\"");
  EXPECT_EQ(table->Raw(0, 0), "\"a, \"\"b\"\"\"");
}

TEST(CsvTest, ATableMayBeMoved) {
  auto table = Parse("a\n1\n");
  const CsvTable moved = *std::move(table);
  EXPECT_EQ(*moved.Number(0, 0), 1);
}

TEST(CsvTest, ErrorsNameRowAndColumnAsEditorsCountThem) {
  const auto table = Parse("x1,x2,y\n1,2,3\n\n1,abc,3\n1,,nan\n");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_TRUE(Refused(table->Number(1, 1).status(), "runs.csv: row 4, column x2: \"abc\" is not a number"));
  EXPECT_TRUE(Refused(table->Number(2, 1).status(), "runs.csv: row 5, column x2: empty, must be a number"));
  EXPECT_TRUE(Refused(table->Number(2, 2).status(), "runs.csv: row 5, column y: \"nan\" is not finite"));
}

TEST(CsvTest, AReaderGivesPiecesWhoseRowsAreCountedOverTheWholeFile) {
  std::istringstream in("x1,y\n1,2\n\n3,4\n5,x\n");
  CsvReader reader("runs.csv", in);
  const auto first = reader.Next(2);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ((*first)->rows(), 2);
  EXPECT_EQ(*(*first)->Number(1, 0), 3);
  const auto second = reader.Next(2);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ((*second)->rows(), 1);
  EXPECT_TRUE(Refused((*second)->Number(0, 1).status(), "runs.csv: row 5, column y: \"x\" is not a number"));
  const auto end = reader.Next(2);
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(*end, nullptr);
}

TEST(CsvTest, LongAndUnprintableFieldsAreCutAndEscaped) {
  const auto table = Parse("x1\n\x1b[31m" + std::string(100, 'a') + "\n");
  const std::string message(table->Number(0, 0).status().message());
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_LT(message.size(), 100u);
}

TEST(CsvTest, TablesWithoutSenseAreRefused) {
  EXPECT_TRUE(Refused(Parse("").status(), "runs.csv: empty, must start with a header"));
  EXPECT_TRUE(Refused(Parse("\n \n").status(), "runs.csv: empty, must start with a header"));
  EXPECT_TRUE(Refused(Parse("x1,y\n").status(), "runs.csv: a header, but no rows"));
  EXPECT_TRUE(Refused(Parse("x1;y\n1;2\n").status(),
                      "runs.csv: header: columns are separated by semicolons, but must be by commas"));
  constexpr char kNoHeader[] = "runs.csv: row 1: numbers, but the first row must be a header, as in x1,x2,y";
  EXPECT_TRUE(Refused(Parse(".1,.1,1\n").status(), kNoHeader));
  EXPECT_TRUE(Refused(Parse("low,1,2\nlow,3,4\n").status(), kNoHeader));
  EXPECT_TRUE(Refused(Parse("x1,,y\n1,2,3\n").status(), "runs.csv: header: column 2 has no name"));
  EXPECT_TRUE(Refused(Parse("x1,x1\n1,2\n").status(), "runs.csv: header: two columns \"x1\""));
  EXPECT_TRUE(Refused(Parse("x1,y\n1,2\n1,2,3\n").status(), "runs.csv: row 3: 3 fields, but the header has 2 columns"));
  EXPECT_TRUE(
      Refused(Parse("x1,y\n\"1,2\n").status(), "runs.csv: row 2: a quote (\") is not closed, or text follows it"));
  EXPECT_TRUE(
      Refused(Parse("x1,y\n\"1\"a,2\n").status(), "runs.csv: row 2: a quote (\") is not closed, or text follows it"));
}

}  // namespace
}  // namespace fidelio::cli
