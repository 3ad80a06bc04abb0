// What fidelio-server does to a data directory besides serving it.
#ifndef FIDELIO_SERVER_MAINTENANCE_H_
#define FIDELIO_SERVER_MAINTENANCE_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"

namespace fidelio {

// Verifies every checksum and invariant and writes what is wrong to `out`, a line each. DATA_LOSS if anything is.
// FAILED_PRECONDITION when there is no data, or a server uses it.
absl::Status CheckDataDirectory(const std::string& directory, std::ostream& out);

// Writes a copy of the data to `file`, which must not exist: the fidelio.db of a data directory. A server that uses the
// directory is asked to do so, and goes on meanwhile.
absl::Status BackUpDataDirectory(const std::string& directory, const std::string& file, std::ostream& out);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MAINTENANCE_H_
