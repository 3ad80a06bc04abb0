#include "server/rpc/last_read.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace fidelio {
namespace {

std::atomic<int64_t> reading_threads = 0;
thread_local SocketRead last_read;

}  // namespace

const SocketRead& LastRead() { return last_read; }

// Of recvmsg alone.
void RememberRead(int socket) {
  if (last_read.thread == 0) last_read.thread = reading_threads.fetch_add(1, std::memory_order_relaxed) + 1;
  last_read.socket = socket;
  ++last_read.number;
}

}  // namespace fidelio

extern "C" __attribute__((visibility("default"))) ssize_t recvmsg(int socket, msghdr* message, int flags) {
  fidelio::RememberRead(socket);
  return syscall(SYS_recvmsg, socket, message, flags);
}
