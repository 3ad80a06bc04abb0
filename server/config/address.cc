#include "server/config/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace fidelio {
namespace {

constexpr char kRule[] =
    "must be HOST:PORT with a host name or IP address and a port from 0 (any free one) to 65535, as in 127.0.0.1:50051 "
    "or [::1]:50051";

bool IsHostCharacter(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-'; }

bool IsHost(const std::string& host, bool bracketed) {
  if (bracketed) {
    in6_addr ignored;
    return inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
  }
  return !host.empty() && host.size() <= 253 && std::all_of(host.begin(), host.end(), IsHostCharacter);
}

}  // namespace

absl::StatusOr<Address> ParseAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return absl::InvalidArgumentError(kRule);
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);

  Address address{.host = std::string(host)};
  const bool digits = !port.empty() && port.size() <= 5 && std::all_of(port.begin(), port.end(), absl::ascii_isdigit);
  if (!IsHost(address.host, bracketed) || !digits ||
      !absl::SimpleAtoi(absl::string_view(port.data(), port.size()), &address.port) || address.port > 65535) {
    return absl::InvalidArgumentError(kRule);
  }
  return address;
}

std::string FormatAddress(const Address& address) {
  if (absl::StrContains(address.host, ":")) return absl::StrCat("[", address.host, "]:", address.port);
  return absl::StrCat(address.host, ":", address.port);
}

bool IsLoopback(const Address& address) {
  if (absl::EqualsIgnoreCase(address.host, "localhost")) return true;
  in_addr v4;
  if (inet_pton(AF_INET, address.host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6;
  if (inet_pton(AF_INET6, address.host.c_str(), &v6) != 1) return false;
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

}  // namespace fidelio
