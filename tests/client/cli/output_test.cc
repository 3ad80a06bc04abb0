#include "client/cli/output.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "gtest/gtest.h"
#include "tests/support/status.h"
#include "tests/support/temp_directory.h"

namespace fidelio::cli {
namespace {

std::string Contents(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(OutputTest, AFileAppearsWhenItIsCompleteAndReplacesTheOldOneThen) {
  TempDirectory directory;
  const std::string path = directory / "out.csv";
  std::ofstream(path) << "old";
  std::ostringstream standard;
  {
    const auto output = OutputFile::Open(path, standard);
    ASSERT_TRUE(output.ok()) << output.status();
    ASSERT_TRUE((*output)->Write("new").ok());
    EXPECT_EQ(Contents(path), "old");
    ASSERT_TRUE((*output)->Write(" text").ok());
    ASSERT_TRUE((*output)->Commit().ok());
    EXPECT_EQ(Contents(path), "new text");
  }
  EXPECT_EQ(Contents(path), "new text");
  EXPECT_EQ(standard.str(), "");
}

TEST(OutputTest, AFileThatIsGivenUpLeavesNothing) {
  TempDirectory directory;
  std::ostringstream standard;
  { ASSERT_TRUE((*OutputFile::Open(directory / "out.csv", standard))->Write("half").ok()); }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(OutputTest, StandardOutputAndDevicesAreWrittenAsTheyAre) {
  std::ostringstream standard;
  for (const char* path : {"", "-"}) {
    const auto output = OutputFile::Open(path, standard);
    ASSERT_TRUE((*output)->Write("a").ok());
    ASSERT_TRUE((*output)->Commit().ok());
  }
  EXPECT_EQ(standard.str(), "aa");
  const auto null = OutputFile::Open("/dev/null", standard);
  ASSERT_TRUE(null.ok()) << null.status();
  EXPECT_TRUE((*null)->Write("a").ok());
  EXPECT_TRUE((*null)->Commit().ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(OutputTest, FilesThatCannotBeWrittenAreNamedWithTheReason) {
  TempDirectory directory;
  std::ostringstream standard;
  EXPECT_TRUE(IsError(OutputFile::Open(directory / "no/out.csv", standard).status(), absl::StatusCode::kInvalidArgument,
                      {"-o: ", "no/out.csv: cannot be written: No such file"}));
  EXPECT_TRUE(IsError(OutputFile::Open(directory.path(), standard).status(), absl::StatusCode::kInvalidArgument,
                      {"Is a directory"}));
}

}  // namespace
}  // namespace fidelio::cli
