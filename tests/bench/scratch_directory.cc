#include "tests/bench/scratch_directory.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace fidelio::bench {

absl::StatusOr<std::unique_ptr<ScratchDirectory>> ScratchDirectory::Make() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) return absl::UnavailableError(absl::StrCat("no directory for temporary files: ", error.message()));
  std::string path = parent / "fidelio-bench-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    return absl::UnavailableError(absl::StrCat(path, ": can't be made: ", std::strerror(errno)));
  }
  return std::unique_ptr<ScratchDirectory>(new ScratchDirectory(std::move(path)));
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace fidelio::bench
