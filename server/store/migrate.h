// Migration of a database file from an earlier format version.
//
// The database is copied into a new file, which then takes its place by a rename: a crash leaves the old file or the new
// one, and the new one has the same first page as every other store of its version (first_page.h).
#ifndef FIDELIO_SERVER_STORE_MIGRATE_H_
#define FIDELIO_SERVER_STORE_MIGRATE_H_

#include <string>

#include "absl/status/statusor.h"

namespace fidelio {

struct Migration {
  int from = 0;          // the version that the file had; 0: there was nothing to do
  bool damaged = false;  // some rows could not be read: the old file is kept as KeptFile
};

inline std::string KeptFile(const std::string& path) { return path + "-version-1"; }

// Brings the database at `path`, which no connection has open, to kFormatVersion. Rows that can't be read are left behind:
// their models are quarantined when they are used. RESOURCE_EXHAUSTED when there is no space for the copy; the old file is
// then as it was.
absl::StatusOr<Migration> MigrateFile(const std::string& path, const std::string& vfs);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_MIGRATE_H_
