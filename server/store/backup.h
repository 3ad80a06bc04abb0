// Copies a database while it is in use.
#ifndef FIDELIO_SERVER_STORE_BACKUP_H_
#define FIDELIO_SERVER_STORE_BACKUP_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/store/database.h"

namespace fidelio {

// A copy in the making: PATH.partial, which becomes PATH when it is complete. SQLite passes on to the copy what
// transactions change between two steps, so the copy is the source as of the last step.
// Not thread-safe; every call needs the lock of the source, except Finish.
class BackupJob {
 public:
  static absl::StatusOr<std::unique_ptr<BackupJob>> Start(Database& source, const std::string& path);
  ~BackupJob();  // removes what is not finished

  absl::StatusOr<bool> Step();  // copies some pages; true when all are
  void EndCopy();               // no more steps: detaches from the source
  absl::Status Finish();        // after EndCopy: syncs the copy and gives it its name

 private:
  explicit BackupJob(std::string path) : path_(std::move(path)), partial_(path_ + ".partial") {}
  absl::Status Error(int result) const;

  const std::string path_;
  const std::string partial_;
  sqlite3* target_ = nullptr;
  sqlite3_backup* backup_ = nullptr;
  bool made_ = false;  // there is a partial file of ours
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_BACKUP_H_
