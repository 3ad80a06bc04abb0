#include "client/cpp/channel.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"

namespace fidelio::client {
namespace {

// After a restart of the server, connections should come back as soon as it does.
constexpr int kFirstReconnectMs = 50;
constexpr int kLongestReconnectMs = 2000;

constexpr char kPort[] = ":50051";  // where servers listen unless told

bool UsesTls(const ChannelOptions& options) {
  return options.tls || !options.tls_ca.empty() || !options.tls_cert.empty() || !options.tls_key.empty() ||
         !options.tls_server.empty();
}

absl::Status Check(const ChannelOptions& options) {
  if (options.tls_cert.empty() != options.tls_key.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.tls_cert.empty() ? "tls_cert" : "tls_key",
                     ": missing, but a client's certificate and its key are needed together"));
  }
  const auto visible = [](char c) { return absl::ascii_isgraph(static_cast<unsigned char>(c)); };
  if (!std::all_of(options.token.begin(), options.token.end(), visible)) {
    return absl::InvalidArgumentError("token: must be one line of visible ASCII characters without blanks");
  }
  if (!options.token.empty() && !UsesTls(options) && !IsLoopback(options.server) && !options.insecure_token) {
    return absl::InvalidArgumentError(
        absl::StrCat("token: would travel to \"", options.server, "\" readable by everyone on the way; use TLS"));
  }
  return absl::OkStatus();
}

bool IsPort(absl::string_view text) {
  int port = 0;
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit) && absl::SimpleAtoi(text, &port) &&
         port > 0 && port <= 65535;
}

// The host of HOST, HOST:PORT or [HOST]:PORT, without brackets. IPv6 has brackets.
std::string HostOf(absl::string_view server) {
  if (absl::StartsWith(server, "[")) {
    const size_t end = server.find(']');
    const bool closed = end != absl::string_view::npos;
    const absl::string_view rest = closed ? server.substr(end + 1) : "";
    return closed && (rest.empty() || rest[0] == ':') ? std::string(server.substr(1, end - 1)) : "";
  }
  return std::string(server.substr(0, server.find(':')));
}

}  // namespace

absl::StatusOr<std::string> ServerAddress(absl::string_view server) {
  const auto error = [&](absl::string_view rule) {
    return absl::InvalidArgumentError(absl::StrCat("server: \"", server, "\" ", rule));
  };
  if (server.empty()) return absl::InvalidArgumentError("server: empty, must be host:port");
  if (absl::StartsWith(server, "http://") || absl::StartsWith(server, "https://")) {
    return error("is a URL, must be host:port; TLS is an option of its own");
  }
  for (const absl::string_view scheme : {"unix:", "unix-abstract:", "dns:", "ipv4:", "ipv6:"}) {
    if (absl::StartsWith(server, scheme)) return std::string(server);
  }
  // What follows the host: nothing, or a colon and the port.
  const bool bracketed = server[0] == '[';
  const size_t end = bracketed ? server.find(']') : server.find(':');
  if (bracketed && end == absl::string_view::npos) return error("has a bracket that is not closed");
  const absl::string_view rest = server.substr(std::min(server.size(), bracketed ? end + 1 : end));
  if (rest.empty()) return absl::StrCat(server, kPort);
  if (!bracketed && absl::StrContains(rest.substr(1), ":")) return error("has several colons; IPv6 is [::1]:50051");
  if (rest[0] != ':' || !IsPort(rest.substr(1)) || (!bracketed && end == 0)) {
    return error("must be host:port, with a port from 1 to 65535");
  }
  return std::string(server);
}

bool IsLoopback(absl::string_view server) {
  if (absl::StartsWith(server, "unix:") || absl::StartsWith(server, "unix-abstract:")) return true;
  if (!absl::ConsumePrefix(&server, "ipv4:")) absl::ConsumePrefix(&server, "ipv6:");
  if (absl::StrContains(server, ",")) return false;  // a list of addresses
  const std::string host = HostOf(server);
  if (absl::EqualsIgnoreCase(host, "localhost")) return true;
  in_addr v4;
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6;
  if (inet_pton(AF_INET6, host.c_str(), &v6) != 1) return false;
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(const ChannelOptions& options) {
  const auto address = ServerAddress(options.server);
  if (!address.ok()) return address.status();
  if (absl::Status status = Check(options); !status.ok()) return status;
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);  // the server's limits hold
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstReconnectMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLongestReconnectMs);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);     // Retry does it, with words for the user
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // a proxy for the web does not know gRPC
  if (!options.tls_server.empty()) arguments.SetSslTargetNameOverride(options.tls_server);

  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (UsesTls(options)) {
    grpc::SslCredentialsOptions ssl;
    ssl.pem_root_certs = options.tls_ca;
    ssl.pem_cert_chain = options.tls_cert;
    ssl.pem_private_key = options.tls_key;
    credentials = grpc::SslCredentials(ssl);
  }
  return grpc::CreateCustomChannel(*address, credentials, arguments);
}

}  // namespace fidelio::client
