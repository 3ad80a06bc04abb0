// ScratchDirectory: a new, empty directory for files of a bench, removed with all that is in it.
#ifndef FIDELIO_TESTS_BENCH_SCRATCH_DIRECTORY_H_
#define FIDELIO_TESTS_BENCH_SCRATCH_DIRECTORY_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace fidelio::bench {

class ScratchDirectory {
 public:
  // In the system's directory for temporary files.
  static absl::StatusOr<std::unique_ptr<ScratchDirectory>> Make();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit ScratchDirectory(std::string path) : path_(std::move(path)) {}

  const std::string path_;
};

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_SCRATCH_DIRECTORY_H_
