#include "server/store/backup.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/store/data_directory.h"

namespace fidelio {
namespace {

constexpr int kPagesPerStep = 1024;  // 4 MiB: a writer waits some milliseconds for it at most

}  // namespace

absl::StatusOr<std::unique_ptr<BackupJob>> BackupJob::Start(Database& source, const std::string& path) {
  std::unique_ptr<BackupJob> job(new BackupJob(path));
  if (access(path.c_str(), F_OK) == 0) {
    return absl::AlreadyExistsError(absl::StrCat("backup: \"", path, "\" exists already; name a new file"));
  }
  const int descriptor = open(job->partial_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return absl::FailedPreconditionError(absl::StrCat("backup: can't make \"", job->partial_, "\": ", strerror(errno)));
  }
  (void)!fchmod(descriptor, 0600);  // the umask may have taken more
  close(descriptor);
  job->made_ = true;
  int result = sqlite3_open_v2(job->partial_.c_str(), &job->target_,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, source.vfs());
  // A half-made copy is never used, so it needs no journal; Finish syncs it.
  if (result == SQLITE_OK) {
    result = sqlite3_exec(job->target_, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF", nullptr, nullptr, nullptr);
  }
  if (result != SQLITE_OK) return job->Error(result);
  job->backup_ = sqlite3_backup_init(job->target_, "main", source.connection(), "main");
  if (job->backup_ == nullptr) return job->Error(sqlite3_extended_errcode(job->target_));
  return job;
}

BackupJob::~BackupJob() {
  EndCopy();
  sqlite3_close(target_);
  if (made_) unlink(partial_.c_str());
}

absl::StatusOr<bool> BackupJob::Step() {
  const int result = sqlite3_backup_step(backup_, kPagesPerStep);
  if (result == SQLITE_DONE) return true;
  if (result == SQLITE_OK) return false;
  return Error(result);
}

void BackupJob::EndCopy() {
  if (backup_ != nullptr) sqlite3_backup_finish(std::exchange(backup_, nullptr));
}

absl::Status BackupJob::Finish() {
  if (const int result = sqlite3_close(std::exchange(target_, nullptr)); result != SQLITE_OK) return Error(result);
  FIDELIO_RETURN_IF_ERROR(SyncPath(partial_));
  // Not over a file that someone else made meanwhile.
  if (renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("backup: can't rename \"", partial_, "\" to \"", path_, "\": ", strerror(errno)));
  }
  made_ = false;
  const std::string parent = std::filesystem::path(path_).parent_path().string();
  return SyncPath(parent.empty() ? "." : parent);
}

absl::Status BackupJob::Error(int result) const {
  const std::string text =
      absl::StrCat("backup to \"", path_, "\": ", sqlite3_errstr(result), " (SQLite code ", result, ")");
  const int primary = result & 0xff;
  if (primary == SQLITE_FULL || primary == SQLITE_NOMEM) return absl::ResourceExhaustedError(text);
  if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB) return absl::DataLossError(text);
  return absl::FailedPreconditionError(text);
}

}  // namespace fidelio
