// DataDirectory: the directory of a store, locked for as long as this lives.
#ifndef FIDELIO_SERVER_STORE_DATA_DIRECTORY_H_
#define FIDELIO_SERVER_STORE_DATA_DIRECTORY_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace fidelio {

class DataDirectory {
 public:
  // Makes the directory (and its parents) when it does not exist, durably. FAILED_PRECONDITION when another process, or
  // another store of this one, has it.
  static absl::StatusOr<std::unique_ptr<DataDirectory>> Open(const std::string& path);
  ~DataDirectory();
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;

 private:
  explicit DataDirectory(int descriptor) : descriptor_(descriptor) {}
  const int descriptor_;
};

// Syncs a file or directory.
absl::Status SyncPath(const std::string& path);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_DATA_DIRECTORY_H_
