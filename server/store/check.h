// CheckDatabase: verifies every checksum and invariant of FORMAT.md.
#ifndef FIDELIO_SERVER_STORE_CHECK_H_
#define FIDELIO_SERVER_STORE_CHECK_H_

#include <vector>

#include "absl/status/statusor.h"
#include "server/store/catalog.h"
#include "server/store/database.h"
#include "server/store/records.h"

namespace fidelio {

// What is wrong, in plain words; models with findings are quarantined. A status only if the check could not be made.
absl::StatusOr<std::vector<Finding>> CheckDatabase(Database& database, Catalog& catalog);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_CHECK_H_
