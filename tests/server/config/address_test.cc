#include "server/config/address.h"

#include <gtest/gtest.h>

namespace fidelio {
namespace {

TEST(AddressTest, FormatIsTheInverseOfParse) {
  for (const char* text : {"127.0.0.1:50051", "[::1]:0", "localhost:65535", "emulator.example.org:443"}) {
    const auto address = ParseAddress(text);
    ASSERT_TRUE(address.ok()) << text;
    EXPECT_EQ(FormatAddress(*address), text);
  }
}

TEST(AddressTest, RefusesWhatIsNotHostAndPort) {
  for (const char* text : {"", ":", "localhost", "localhost:", ":80", "::1:80", "[::1]", "[x]:80", "host:65536",
                           "host:-1", "host:+1", "host: 1", "a b:80", "host:1e3", "[127.0.0.1]:80", "unix:/socket"}) {
    EXPECT_FALSE(ParseAddress(text).ok()) << text;
  }
}

TEST(AddressTest, OnlyAddressesOfThisMachineAreLoopback) {
  for (const char* host : {"127.0.0.1", "127.8.9.1", "::1", "localhost", "LOCALHOST", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(IsLoopback({host, 1})) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "example.org", "localhost.example.org",
                           "127.0.0.1.example.org", "::ffff:10.0.0.1"}) {
    EXPECT_FALSE(IsLoopback({host, 1})) << host;
  }
}

}  // namespace
}  // namespace fidelio
