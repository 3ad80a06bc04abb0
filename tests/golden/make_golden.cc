// make-golden DIRECTORY: writes the golden files of this program's formats into a new directory (CONTRIBUTING.md).
#include <cstdio>
#include <filesystem>

#include "gtest/gtest.h"
#include "tests/server/model/golden.h"

namespace {

std::string directory;

TEST(MakeGolden, WritesNewFiles) { fidelio::golden::Write(directory); }

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
    return 2;
  }
  directory = argv[1];
  if (!std::filesystem::create_directory(directory)) {
    std::fprintf(stderr, "%s: is there already; golden files are never written again\n", argv[1]);
    return 1;
  }
  return RUN_ALL_TESTS();
}
