// The tables of the store. migrate.h brings files of earlier versions to the present one.
#ifndef FIDELIO_SERVER_STORE_SCHEMA_H_
#define FIDELIO_SERVER_STORE_SCHEMA_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/store/database.h"

namespace fidelio {

inline constexpr int kFormatVersion = 2;           // SQLite's user_version
inline constexpr int kApplicationId = 0x46444C4F;  // "FDLO", SQLite's application_id
inline constexpr char kDatabaseFile[] = "fidelio.db";

// Makes the tables of an empty database, in one transaction; one that has tables stays as it is. FAILED_PRECONDITION when
// its version is newer than kFormatVersion, or it is something else's; DATA_LOSS when its header can't be.
absl::Status CreateSchema(Database& database, absl::Time now, int version = kFormatVersion);

// The tables and the marks of a version, without any row; part of the caller's transaction.
absl::Status CreateTables(Database& database, int version);

// DATA_LOSS unless the header and the text of every table are those of the version (FORMAT.md, S3).
absl::Status VerifySchema(Database& database, int version = kFormatVersion);

// DATA_LOSS when the file at `path` is shorter or longer than its header says: it was cut, or its header is damaged, and
// SQLite would overwrite pages that are in use (FORMAT.md, S3).
absl::Status VerifySize(Database& database, const std::string& path);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_SCHEMA_H_
