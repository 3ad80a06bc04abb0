// LastRead: what the calling thread has read last by recvmsg, as gRPC does.
//
// The program's own recvmsg takes the place of the C library's, for the libraries that it is linked to, too. It makes the
// same system call, and remembers.
#ifndef FIDELIO_SERVER_RPC_LAST_READ_H_
#define FIDELIO_SERVER_RPC_LAST_READ_H_

#include <cstdint>

namespace fidelio {

struct SocketRead {
  int socket = -1;  // none yet
  // Tells the reads of all threads apart.
  int64_t thread = 0;
  int64_t number = 0;

  bool operator==(const SocketRead& other) const = default;
};

const SocketRead& LastRead();

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_LAST_READ_H_
