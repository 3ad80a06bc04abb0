// FaultVfs: SQLite's file system with faults on demand. Registered while it lives, under name().
// Not thread-safe: set faults while no thread uses the store.
#ifndef FIDELIO_TESTS_SERVER_STORE_FAULT_VFS_H_
#define FIDELIO_TESTS_SERVER_STORE_FAULT_VFS_H_

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <string>

namespace fidelio {

class FaultVfs {
 public:
  FaultVfs();
  ~FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  std::string name() const { return name_; }

  // Faults, and what was seen. Negative: never.
  int64_t growths_until_full = -1;    // then every write that makes a file longer fails as on a full disk
  int64_t refusals_until_space = -1;  // then there is space again
  int64_t writes_until_error = -1;    // then every write fails with write_errno
  int write_errno = 5;                // EIO; 0: errno stays as it is, as of a failure without a known cause
  int64_t syncs_until_error = -1;     // then every sync fails
  bool skip_syncs = false;            // answers at once: for tests that never lose power
  std::string ignored_pragma = {};    // "PRAGMA name=value" does nothing for this name
  std::function<void()> before_sync;
  int64_t writes = 0;
  int64_t syncs = 0;

  int Write(bool grows);  // the result that the next write is to have
  int Sync(bool& skip);
  sqlite3_vfs* real() const { return real_; }

 private:
  std::string name_;
  sqlite3_vfs* real_;
  sqlite3_vfs vfs_;
};

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SERVER_STORE_FAULT_VFS_H_
