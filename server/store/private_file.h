// Files that only their owner may read and write: what a store holds is nobody else's business, whatever the umask.
#ifndef FIDELIO_SERVER_STORE_PRIVATE_FILE_H_
#define FIDELIO_SERVER_STORE_PRIVATE_FILE_H_

#include <string>

#include "absl/status/status.h"

namespace fidelio {

// Makes the database file `path`, empty and with mode 0600, unless it exists; then takes the rights of group and others
// from it and from its journal, where this user may. SQLite gives a new journal the mode of its database.
absl::Status MakePrivate(const std::string& path);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_PRIVATE_FILE_H_
