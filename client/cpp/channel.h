// How to reach a server: address, TLS, token.
#ifndef FIDELIO_CLIENT_CPP_CHANNEL_H_
#define FIDELIO_CLIENT_CPP_CHANNEL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "grpcpp/channel.h"

namespace fidelio::client {

struct ChannelOptions {
  std::string server = "127.0.0.1:50051";  // host, host:port (default port 50051), or unix:PATH

  // TLS. Contents of PEM files, not paths.
  bool tls = false;             // implied by the others
  std::string tls_ca = {};      // certificate authorities for the server's certificate. Empty: those of the system
  std::string tls_cert = {};    // the client's own certificate and key, for mutual TLS; both or none
  std::string tls_key = {};     //
  std::string tls_server = {};  // name that the server's certificate must have. Empty: the host of `server`

  std::string token = {};       // sent with every call as "authorization: Bearer …". Empty: none
  bool insecure_token = false;  // allow sending a token to another machine without TLS
};

// A channel that connects when it is first used. INVALID_ARGUMENT names the option and the rule.
absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(const ChannelOptions& options);

// The address in the form that gRPC expects, with a port. INVALID_ARGUMENT if it is not an address, such as a URL.
absl::StatusOr<std::string> ServerAddress(absl::string_view server);

// Whether an address stays on this machine: a Unix socket, the name localhost, or an IP address in 127.0.0.0/8, ::1 or
// ::ffff:127.0.0.0/104, in full notation. Any other name does not, whatever it resolves to.
bool IsLoopback(absl::string_view server);

}  // namespace fidelio::client

#endif  // FIDELIO_CLIENT_CPP_CHANNEL_H_
