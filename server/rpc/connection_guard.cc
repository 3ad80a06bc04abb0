#include "server/rpc/connection_guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/rpc/last_read.h"

namespace fidelio {
namespace {

// gRPC's context of a connection has properties of ours, which it keeps for as long as the connection is there.
constexpr char kProperty[] = "fidelio_connection";

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

// What is kept with a connection.
struct ConnectionGuard::Connection {
  uint64_t id = 0;
  int socket = -1;
  char peer[INET6_ADDRSTRLEN + 8] = "";

  // False when the connection is new to us.
  bool Find(const grpc_auth_context* context) {
    grpc_auth_property_iterator properties = grpc_auth_context_find_properties_by_name(context, kProperty);
    const grpc_auth_property* const property = grpc_auth_property_iterator_next(&properties);
    if (property == nullptr || property->value_length != sizeof(*this)) return false;
    std::memcpy(this, property->value, sizeof(*this));
    return true;
  }

  // One thread at a time works for a connection, and no other reads its properties before the first call has begun.
  void Keep(grpc_auth_context* context) const {
    grpc_auth_context_add_property(context, kProperty, reinterpret_cast<const char*>(this), sizeof(*this));
  }
};

grpc_auth_metadata_processor ConnectionGuard::Processor() {
  return {.process = &ConnectionGuard::Process, .destroy = nullptr, .state = this};
}

void ConnectionGuard::Process(void* guard, grpc_auth_context* context, const grpc_metadata* /*metadata*/,
                              size_t /*size*/, grpc_process_auth_metadata_done_cb done, void* user_data) {
  const bool ok = static_cast<ConnectionGuard*>(guard)->Begin(context);
  done(user_data, nullptr, 0, nullptr, 0, ok ? GRPC_STATUS_OK : GRPC_STATUS_RESOURCE_EXHAUSTED,
       ok ? nullptr : "calls: this connection gives up too many of its own");
}

bool ConnectionGuard::Begin(grpc_auth_context* context) {
  Connection connection;
  if (!connection.Find(context)) {
    connection.id = last_id_.fetch_add(1, std::memory_order_relaxed) + 1;
    connection.socket = LastReadSocket();
    const std::string peer = PeerOf(connection.socket);
    peer.copy(connection.peer, sizeof(connection.peer) - 1);
    connection.Keep(context);
  }
  const int64_t beyond = CountBegun(connection.id);
  if (beyond <= 0) return true;
  // Once: the next ones were read before, or come by a socket that we do not know.
  if (beyond == 1 && connection.socket == LastReadSocket() && ResetSocket(connection.socket, connection.peer)) {
    if (*connection.peer != '\0') on_cut_(connection.peer);  // else the client was gone already
  }
  return false;
}

int64_t ConnectionGuard::CountBegun(uint64_t id) {
  const absl::Time now = absl::Now();
  absl::MutexLock lock(&mutex_);
  if (now >= end_) {
    counts_.clear();
    end_ = now + limits_.period;
  }
  Counts& counts = counts_[id];
  return ++counts.begun - counts.taken - limits_.calls_at_once - limits_.given_up;
}

void ConnectionGuard::OnTaken(grpc::ServerContextBase& context) {
  grpc_auth_context* const auth_context = grpc_call_auth_context(context.c_call());
  if (auth_context == nullptr) return;
  Connection connection;
  const bool found = connection.Find(auth_context);
  grpc_auth_context_release(auth_context);
  if (!found) return;
  absl::MutexLock lock(&mutex_);
  ++counts_[connection.id].taken;
}

}  // namespace fidelio
