// The first page of the database, which all models need: SQLite's header and schema. But for a few fields of the header it
// is the same in every store of a version, so damage to it can be undone (FORMAT.md, "Damage that concerns all models").
#ifndef FIDELIO_SERVER_STORE_FIRST_PAGE_H_
#define FIDELIO_SERVER_STORE_FIRST_PAGE_H_

#include <string>

#include "absl/status/statusor.h"

namespace fidelio {

// Bytes of the page that may differ: with more damage than a sector it is not certain what this page was.
inline constexpr int kMaxRestoredBytes = 512;

// Restores the first page of the database at `path`, which no connection has open, and syncs it. Answers the number of
// bytes that it changed; 0 when none was damaged, when the page is not recognisably that of a store of this version, or when
// there is a journal, which has the page as it was. Makes and removes a file beside the database.
absl::StatusOr<int> RestoreFirstPage(const std::string& path, const std::string& vfs);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_FIRST_PAGE_H_
