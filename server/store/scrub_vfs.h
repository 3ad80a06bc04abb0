// ScrubVfs: SQLite's file system, with two additions for the database file.
//
//  - What is unused in a b-tree page is written as zeros (FORMAT.md, S12). SQLite's secure_delete zeroes freed cells and
//    pages, but when it moves cells between pages it leaves old copies in the gap between a page's pointers and its cells,
//    where the bytes of a deleted model would survive.
//  - The error number of the last failed operation is kept, with its result: SQLite tells a full disk from a broken one
//    only for ENOSPC.
//
// Registered with SQLite while it lives. Not thread-safe: for one connection.
#ifndef FIDELIO_SERVER_STORE_SCRUB_VFS_H_
#define FIDELIO_SERVER_STORE_SCRUB_VFS_H_

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace fidelio {

// Pages beyond this number could be mistaken for b-tree pages by their first byte. It limits a database to 128 GiB.
inline constexpr int64_t kMaxPages = (int64_t{1} << 25) - 1;

class ScrubVfs {
 public:
  // On top of SQLite's file system `base`; empty: the default.
  static absl::StatusOr<std::unique_ptr<ScrubVfs>> Register(const std::string& base);
  ~ScrubVfs();
  ScrubVfs(const ScrubVfs&) = delete;
  ScrubVfs& operator=(const ScrubVfs&) = delete;

  const char* name() const { return name_.c_str(); }
  // The errno of the failed operation that gave `result`, since Forget; 0: not known.
  int ErrnoOf(int result) const;
  // To be called before each call of SQLite, so that no earlier failure is taken for its cause.
  void Forget();

  sqlite3_vfs* base() const { return base_; }
  void NoteResult(int result, int error);  // `error` is kept if the result is a failure

 private:
  explicit ScrubVfs(sqlite3_vfs* base);

  sqlite3_vfs* const base_;
  std::string name_;
  sqlite3_vfs vfs_;
  int failed_result_ = SQLITE_OK;
  int failed_errno_ = 0;
};

// If `page` (page number `number`, from 1) is a b-tree page with other bytes than zeros in its gap, copies it to `scrubbed`
// without them and returns true.
bool ScrubPage(const unsigned char* page, int size, int64_t number, unsigned char* scrubbed);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_SCRUB_VFS_H_
