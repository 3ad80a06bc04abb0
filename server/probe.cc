#include "server/probe.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "absl/cleanup/cleanup.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace fidelio {
namespace {

constexpr size_t kLongestAnswer = 8192;

// A socket that is connected to `address` and gives up after `timeout` of silence. The caller closes it.
absl::StatusOr<int> Connect(const Address& address, absl::Duration timeout) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(address.host.c_str(), absl::StrCat(address.port).c_str(), &hints, &found);
      error != 0) {
    return absl::UnavailableError(gai_strerror(error));
  }
  const absl::Cleanup free_found = [found] { freeaddrinfo(found); };
  std::string why = "no address";
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    const int descriptor = socket(entry->ai_family, entry->ai_socktype | SOCK_CLOEXEC, entry->ai_protocol);
    const timeval limit = absl::ToTimeval(timeout);
    if (descriptor >= 0 && setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0 &&
        connect(descriptor, entry->ai_addr, entry->ai_addrlen) == 0) {
      return descriptor;
    }
    why = strerror(errno);
    if (descriptor >= 0) close(descriptor);
  }
  return absl::UnavailableError(why);
}

// What comes until the other side closes the connection.
std::string ReadAll(int descriptor) {
  std::string text;
  char buffer[1024];
  for (ssize_t size = 0; text.size() < kLongestAnswer && (size = read(descriptor, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(size));
  }
  return text;
}

}  // namespace

absl::Status Probe(const ServerConfig& config, absl::Duration timeout, std::ostream& out) {
  if (!config.metrics_address.has_value() || config.metrics_address->port == 0) {
    return absl::InvalidArgumentError("metrics_address: must be an address with a port, where /readyz is asked");
  }
  const std::string where = absl::StrCat("metrics_address = \"", FormatAddress(*config.metrics_address), "\": ");
  const absl::StatusOr<int> connection = Connect(*config.metrics_address, timeout);
  if (!connection.ok()) return absl::UnavailableError(absl::StrCat(where, connection.status().message()));
  const absl::Cleanup close_connection = [descriptor = *connection] { close(descriptor); };
  constexpr absl::string_view kRequest = "GET /readyz HTTP/1.0\r\n\r\n";
  if (send(*connection, kRequest.data(), kRequest.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(kRequest.size())) {
    return absl::UnavailableError(absl::StrCat(where, strerror(errno)));
  }
  const std::string answer = ReadAll(*connection);
  const size_t end_of_head = answer.find("\r\n\r\n");
  if (end_of_head == std::string::npos) return absl::UnavailableError(absl::StrCat(where, "no response"));
  const absl::string_view state = absl::StripSuffix(absl::string_view(answer).substr(end_of_head + 4), "\n");
  const absl::string_view status_line = absl::string_view(answer).substr(0, answer.find("\r\n"));
  if (!absl::StrContains(status_line, " 200 ")) {
    return absl::UnavailableError(absl::StrCat(where, "not ready: ", state));
  }
  out << state << "\n";
  return absl::OkStatus();
}

}  // namespace fidelio
