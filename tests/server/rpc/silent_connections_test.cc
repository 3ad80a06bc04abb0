#include "server/rpc/silent_connections.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "gtest/gtest.h"

namespace fidelio {
namespace {

TEST(SilentConnectionsTest, ComeInWhenTheySpeak) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), client = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const bound = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(listener, bound, size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, bound, &size), 0);
  const int port = ntohs(address.sin_port);
  EXPECT_EQ(DeferSilentConnections(port == 1 ? 2 : 1, absl::Seconds(30)), 0);
  EXPECT_EQ(DeferSilentConnections(port, absl::Seconds(30)), 1);

  ASSERT_EQ(connect(client, bound, size), 0);
  EXPECT_EQ(accept(listener, nullptr, nullptr), -1);
  EXPECT_EQ(errno, EAGAIN);
  ASSERT_EQ(send(client, "x", 1, 0), 1);
  pollfd ready{.fd = listener, .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&ready, 1, /*milliseconds=*/30'000), 1);
  const int accepted = accept(listener, nullptr, nullptr);
  EXPECT_GE(accepted, 0);
  for (const int socket : {accepted, client, listener}) close(socket);
}

}  // namespace
}  // namespace fidelio
