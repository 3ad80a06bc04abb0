// Asks a running server, from a process beside it, whether calls are welcome: the health check of containers, where there
// is no curl.
#ifndef FIDELIO_SERVER_PROBE_H_
#define FIDELIO_SERVER_PROBE_H_

#include <ostream>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/config/server_config.h"

namespace fidelio {

// GET /readyz at metrics_address, of a server with this configuration. OK, and "ready" to `out`, when it is ready.
// UNAVAILABLE: what it said, or why it said nothing within `timeout`. INVALID_ARGUMENT: there is no address to ask at.
absl::Status Probe(const ServerConfig& config, absl::Duration timeout, std::ostream& out);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_PROBE_H_
