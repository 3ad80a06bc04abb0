#include "server/rpc/connection_guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "absl/strings/str_cat.h"

namespace fidelio {
namespace {

// gRPC's context of a connection has a property of ours, its number, for as long as the connection is there.
constexpr char kProperty[] = "fidelio_connection";
// So often a connection's calls must have come by a socket before it is believed to be the connection's.
constexpr int kReads = 2;

// 0 for none.
uint64_t NumberOf(const grpc_auth_context* context) {
  grpc_auth_property_iterator properties = grpc_auth_context_find_properties_by_name(context, kProperty);
  const grpc_auth_property* const property = grpc_auth_property_iterator_next(&properties);
  uint64_t number = 0;
  if (property != nullptr) std::memcpy(&number, property->value, sizeof(number));
  return number;
}

// "127.0.0.1:1234"; empty when there is none.
std::string PeerOf(int socket) {
  sockaddr_storage storage = {};
  socklen_t size = sizeof(storage);
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return "";
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in&>(storage);
    inet_ntop(AF_INET, &address.sin_addr, text, sizeof(text));
    return absl::StrCat(text, ":", ntohs(address.sin_port));
  }
  if (storage.ss_family != AF_INET6) return "";
  const auto& address = reinterpret_cast<const sockaddr_in6&>(storage);
  if (IN6_IS_ADDR_V4MAPPED(&address.sin6_addr)) {
    inet_ntop(AF_INET, &address.sin6_addr.s6_addr[12], text, sizeof(text));
    return absl::StrCat(text, ":", ntohs(address.sin6_port));
  }
  inet_ntop(AF_INET6, &address.sin6_addr, text, sizeof(text));
  return absl::StrCat("[", text, "]:", ntohs(address.sin6_port));
}

// As if the peer had reset the connection: whoever reads or writes is told, and what was not read is gone. gRPC may close
// the socket at any time, and another one get its number: a descriptor of our own keeps it from that.
bool ResetSocket(int socket, const std::string& peer) {
  const int held = dup(socket);
  if (held < 0) return false;
  sockaddr nobody = {};
  nobody.sa_family = AF_UNSPEC;
  const bool reset = PeerOf(held) == peer && connect(held, &nobody, sizeof(nobody)) == 0;
  close(held);
  return reset;
}

}  // namespace

grpc_auth_metadata_processor ConnectionGuard::Processor() {
  return {.process = &ConnectionGuard::Process, .destroy = nullptr, .state = this};
}

void ConnectionGuard::Process(void* guard, grpc_auth_context* context, const grpc_metadata* /*metadata*/,
                              size_t /*size*/, grpc_process_auth_metadata_done_cb done, void* user_data) {
  auto* const self = static_cast<ConnectionGuard*>(guard);
  uint64_t number = NumberOf(context);
  if (number == 0) {
    // One thread at a time works for a connection, and no other reads its properties before its first call has begun.
    number = self->last_number_.fetch_add(1, std::memory_order_relaxed) + 1;
    grpc_auth_context_add_property(context, kProperty, reinterpret_cast<const char*>(&number), sizeof(number));
  }
  const bool ok = self->Begin(number);
  done(user_data, nullptr, 0, nullptr, 0, ok ? GRPC_STATUS_OK : GRPC_STATUS_RESOURCE_EXHAUSTED,
       ok ? nullptr : "calls: this connection resets too many of its calls");
}

bool ConnectionGuard::Begin(uint64_t number) {
  const auto now = std::chrono::steady_clock::now();
  int socket = -1;
  std::string peer;
  {
    absl::MutexLock lock(&mutex_);
    if (now >= end_) {
      connections_.clear();
      end_ = now + limits_.period;
    }
    Connection& connection = connections_[number];
    if (const SocketRead& read = LastRead(); read != connection.read) {
      const bool same = read.socket == connection.read.socket;
      connection.reads = same ? connection.reads + 1 : 1;
      if (!same) connection.peer = PeerOf(read.socket);
      connection.read = read;
    }
    ++connection.begun;
    if (connection.begun - connection.taken <= limits_.calls_at_once + limits_.given_up) return true;
    if (!Cut(connection)) return false;
    socket = connection.read.socket;
    peer = connection.peer;
  }
  // A client that is gone has no address; what it left behind need not be read.
  if (ResetSocket(socket, peer) && !peer.empty()) on_cut_(peer);
  return false;
}

bool ConnectionGuard::Cut(Connection& connection) const {
  if (connection.cut || connection.reads < kReads) return false;
  for (const auto& [number, other] : connections_) {
    const bool same = other.read.socket == connection.read.socket && other.peer == connection.peer;
    if (same && &other != &connection && !other.peer.empty()) return false;
  }
  return connection.cut = true;
}

void ConnectionGuard::OnTaken(grpc::ServerContextBase& context) {
  grpc_auth_context* const auth_context = grpc_call_auth_context(context.c_call());
  if (auth_context == nullptr) return;
  const uint64_t number = NumberOf(auth_context);
  grpc_auth_context_release(auth_context);
  if (number == 0) return;
  absl::MutexLock lock(&mutex_);
  ++connections_[number].taken;
}

}  // namespace fidelio
