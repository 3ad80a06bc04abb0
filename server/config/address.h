// Address: a host and a TCP port, as settings write it: 127.0.0.1:50051, localhost:0, [::1]:50051.
//
// Port 0 asks the system for a free port. A value; safe to share between threads.
#ifndef FIDELIO_SERVER_CONFIG_ADDRESS_H_
#define FIDELIO_SERVER_CONFIG_ADDRESS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace fidelio {

struct Address {
  std::string host;  // without the brackets of IPv6
  int port = 0;

  friend bool operator==(const Address&, const Address&) = default;
};

// Errors say the rule alone; the caller names setting and value.
absl::StatusOr<Address> ParseAddress(std::string_view text);

// The inverse of ParseAddress.
std::string FormatAddress(const Address& address);

// Whether only this machine reaches the address: 127.0.0.0/8, ::1 (also as a mapped IPv4 address) or localhost.
bool IsLoopback(const Address& address);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_CONFIG_ADDRESS_H_
