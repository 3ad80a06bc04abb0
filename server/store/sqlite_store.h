// SqliteStore: a Store in one SQLite file, DIRECTORY/fidelio.db. FORMAT.md describes its bytes and invariants.
#ifndef FIDELIO_SERVER_STORE_SQLITE_STORE_H_
#define FIDELIO_SERVER_STORE_SQLITE_STORE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/store/store.h"

namespace fidelio {

struct SqliteStoreOptions {
  std::string directory = {};  // made, with its parents, when it does not exist

  // Called at most once, from the thread whose write failed, when the operating system could not sync or write and the
  // state on disk is therefore unknown. The store refuses all calls from then on; the process should exit: a new one
  // recovers from the disk. Must not call the store.
  std::function<void(const absl::Status&)> on_fatal = [](const absl::Status&) {};

  // Called when damage to the database's first page was undone (first_page.h), or when the database was migrated from an
  // earlier format (migrate.h), with what was done.
  std::function<void(const std::string&)> on_repair = [](const std::string&) {};

  std::function<absl::Time()> clock = [] { return absl::Now(); };
  int64_t cache_bytes = int64_t{16} << 20;
  std::string vfs = {};  // SQLite's name of a virtual file system; empty: the default
};

// Opens the store, makes it when the directory has none, recovers it after a crash and migrates older formats.
// FAILED_PRECONDITION: another process has the directory open, or a newer Fidelio wrote it. DATA_LOSS: damage that can't
// be attributed to single models.
absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(SqliteStoreOptions options);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_SQLITE_STORE_H_
