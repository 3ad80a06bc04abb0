#include "server/rpc/last_read.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fidelio {
namespace {

thread_local int last_read_socket = -1;

}  // namespace

int LastReadSocket() { return last_read_socket; }

}  // namespace fidelio

extern "C" __attribute__((visibility("default"))) ssize_t recvmsg(int socket, msghdr* message, int flags) {
  fidelio::last_read_socket = socket;
  return syscall(SYS_recvmsg, socket, message, flags);
}
