// LastReadSocket: the socket that the calling thread has read last by recvmsg, as gRPC does; -1 when there is none.
//
// The program's own recvmsg takes the place of the C library's, for the libraries that it is linked to, too. It makes the
// same system call, and remembers.
#ifndef FIDELIO_SERVER_RPC_LAST_READ_H_
#define FIDELIO_SERVER_RPC_LAST_READ_H_

namespace fidelio {

int LastReadSocket();

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_LAST_READ_H_
