#include "server/rpc/silent_connections.h"

#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <memory>

#include "absl/strings/numbers.h"

namespace fidelio {
namespace {

bool ListensAt(int socket, int port) {
  int listens = 0;
  socklen_t size = sizeof(listens);
  if (getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) return false;
  sockaddr_storage storage = {};
  size = sizeof(storage);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return false;
  if (storage.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(storage).sin_port) == port;
  if (storage.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(storage).sin6_port) == port;
  return false;
}

}  // namespace

int DeferSilentConnections(int port, absl::Duration patience) {
  int sockets = 0;
  const int seconds = static_cast<int>(absl::ToInt64Seconds(patience));
  const std::unique_ptr<DIR, int (*)(DIR*)> files(opendir("/proc/self/fd"), &closedir);
  while (const dirent* const entry = files == nullptr ? nullptr : readdir(files.get())) {
    int file = 0;
    if (!absl::SimpleAtoi(entry->d_name, &file) || !ListensAt(file, port)) continue;
    if (setsockopt(file, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof(seconds)) == 0) ++sockets;
  }
  return sockets;
}

}  // namespace fidelio
