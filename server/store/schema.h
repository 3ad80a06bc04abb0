// The tables of the store, and the way to them from every earlier format.
#ifndef FIDELIO_SERVER_STORE_SCHEMA_H_
#define FIDELIO_SERVER_STORE_SCHEMA_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/store/database.h"

namespace fidelio {

inline constexpr int kFormatVersion = 1;           // SQLite's user_version
inline constexpr int kApplicationId = 0x46444C4F;  // "FDLO", SQLite's application_id
inline constexpr char kDatabaseFile[] = "fidelio.db";

// Brings the database to kFormatVersion, in one transaction per version. FAILED_PRECONDITION when it is newer, or is
// something else's; DATA_LOSS when its header or its tables are not what that version has.
absl::Status MigrateSchema(Database& database, absl::Time now);

// DATA_LOSS unless the header and the text of every table are those of kFormatVersion (FORMAT.md, S3).
absl::Status VerifySchema(Database& database);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_SCHEMA_H_
