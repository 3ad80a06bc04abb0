// Clients that connect and say nothing: gRPC would spend a tenth of a millisecond on each, one after the other, before it
// turns to the next, who may want a health check. The kernel can keep them from it until they speak, as all clients of gRPC
// do at once.
#ifndef FIDELIO_SERVER_RPC_SILENT_CONNECTIONS_H_
#define FIDELIO_SERVER_RPC_SILENT_CONNECTIONS_H_

#include "absl/time/time.h"

namespace fidelio {

// From now on, the sockets of this process that listen at a TCP port let nobody in who has not sent anything, for about
// `patience`, in whole seconds. Answers how many sockets there are.
int DeferSilentConnections(int port, absl::Duration patience);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_SILENT_CONNECTIONS_H_
