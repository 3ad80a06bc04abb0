#include "client/cli/input.h"

#include <fstream>
#include <sstream>
#include <utility>

#include "gtest/gtest.h"
#include "tests/support/status.h"
#include "tests/support/temp_directory.h"

namespace fidelio::cli {
namespace {

TEST(InputTest, InputComesFromAFileOrStandardInput) {
  TempDirectory directory;
  std::ofstream(directory / "a.csv") << "x1\n1\n";
  std::istringstream in("x1\n2\n");
  EXPECT_EQ(*ReadInput(directory / "a.csv", in), "x1\n1\n");
  EXPECT_EQ(*ReadInput("-", in), "x1\n2\n");
}

TEST(InputTest, FilesThatCannotBeReadAreNamedWithTheReason) {
  TempDirectory directory;
  std::istringstream in;
  EXPECT_TRUE(IsError(ReadInput(directory / "none.csv", in).status(), absl::StatusCode::kInvalidArgument,
                      {"none.csv: cannot be read: No such file"}));
  EXPECT_TRUE(IsError(ReadInput(directory.path(), in).status(), absl::StatusCode::kInvalidArgument,
                      {"cannot be read: Is a directory"}));
}

TEST(InputTest, FilesCanBeReadTwiceAndStandardInputOnce) {
  TempDirectory directory;
  std::ofstream(directory / "a.csv") << "x1\n1\n";
  std::istringstream in("x1\n2\n");
  const auto file = InputFile::Open(directory / "a.csv", in);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE((*file)->seekable());
  EXPECT_EQ((*file)->size(), 5);
  for (int i = 0; i < 2; ++i) {
    const auto rows = (*file)->Tables({});
    EXPECT_EQ(*(*rows->Next(9))->Number(0, 0), 1);
    EXPECT_EQ(*rows->Next(9), nullptr);
    EXPECT_EQ((*file)->position(), 5);
    (*file)->Rewind();
  }
  EXPECT_FALSE((*InputFile::Open("-", in))->seekable());
}

TEST(InputTest, ArraysOfNumpyAreKnownByTheirFirstByte) {
  std::istringstream in("\x93NUMPY, but nothing else");
  const auto file = InputFile::Open("-", in);
  EXPECT_TRUE(IsError((*file)->Tables({})->Next(1).status(), absl::StatusCode::kInvalidArgument, {"damaged .npy"}));
}

TEST(InputTest, NamesOfNumpysFilesAreNotTakenForText) {
  TempDirectory directory;
  std::istringstream in;
  for (const auto& [name, why] : {std::pair("a.npy", "a.npy: not a file written by numpy.save"),
                                  std::pair("a.npz", "a.npz: holds several arrays; numpy.save writes one")}) {
    std::ofstream(directory / name) << "x1\n1\n";
    const auto file = InputFile::Open(directory / name, in);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_TRUE(IsError((*file)->Tables({})->Next(9).status(), absl::StatusCode::kInvalidArgument, {why}));
  }
}

}  // namespace
}  // namespace fidelio::cli
