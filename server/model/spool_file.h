// SpoolFile: bytes that wait on disk, in a file without a name: nothing remains of it, however the process ends.
//
// Not thread-safe: one user at a time.
#ifndef FIDELIO_SERVER_MODEL_SPOOL_FILE_H_
#define FIDELIO_SERVER_MODEL_SPOOL_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace fidelio {

class SpoolFile {
 public:
  // In `directory`; empty: the system's directory for temporary files.
  static absl::StatusOr<std::unique_ptr<SpoolFile>> Create(const std::string& directory);
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  // RESOURCE_EXHAUSTED when the disk is full.
  absl::Status Append(absl::string_view bytes);

  // Exactly `count` bytes from `offset` on.
  absl::StatusOr<std::string> Read(int64_t offset, size_t count) const;

  int64_t size() const { return size_; }

 private:
  explicit SpoolFile(int descriptor) : descriptor_(descriptor) {}

  const int descriptor_;
  int64_t size_ = 0;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_SPOOL_FILE_H_
