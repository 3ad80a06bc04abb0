// The port file: how whoever started the server with port 0 learns the port, and that calls are answered.
#ifndef FIDELIO_SERVER_CONFIG_PORT_FILE_H_
#define FIDELIO_SERVER_CONFIG_PORT_FILE_H_

#include <string>

#include "absl/status/status.h"

namespace fidelio {

// Writes `port` and a newline to `path`, atomically: a reader sees the whole file or none.
absl::Status WritePortFile(const std::string& path, int port);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_CONFIG_PORT_FILE_H_
