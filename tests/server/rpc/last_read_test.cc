#include "server/rpc/last_read.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "gtest/gtest.h"

namespace fidelio {
namespace {

ssize_t Receive(int socket, char* byte) {
  iovec part{.iov_base = byte, .iov_len = 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  return recvmsg(socket, &message, MSG_DONTWAIT);
}

TEST(LastReadTest, EveryThreadHasItsOwnAndReadsAsBefore) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  ASSERT_EQ(send(ends[0], "x", 1, 0), 1);
  char byte = 0;
  EXPECT_EQ(Receive(ends[1], &byte), 1);
  EXPECT_EQ(byte, 'x');
  const SocketRead first = LastRead();
  EXPECT_EQ(first.socket, ends[1]);
  EXPECT_EQ(first, LastRead());
  EXPECT_EQ(Receive(ends[0], &byte), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(LastRead().socket, ends[0]);
  EXPECT_EQ(LastRead().thread, first.thread);
  EXPECT_EQ(LastRead().number, first.number + 1);
  std::thread([&] {
    EXPECT_EQ(LastRead().socket, -1);
    Receive(ends[1], &byte);
    EXPECT_EQ(LastRead().socket, ends[1]);
    EXPECT_NE(LastRead().thread, first.thread);
  }).join();
  for (const int end : ends) close(end);
}

}  // namespace
}  // namespace fidelio
