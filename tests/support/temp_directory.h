// TempDirectory: a new, empty directory that is removed with all that is in it.
#ifndef FIDELIO_TESTS_SUPPORT_TEMP_DIRECTORY_H_
#define FIDELIO_TESTS_SUPPORT_TEMP_DIRECTORY_H_

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "gtest/gtest.h"

namespace fidelio {

class TempDirectory {
 public:
  TempDirectory() : path_(::testing::TempDir() + "fidelio-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_TEMP_DIRECTORY_H_
