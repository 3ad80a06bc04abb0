// CallParts: what calls that come through the CallLoop need. Outlives them.
#ifndef FIDELIO_SERVER_RPC_CALL_PARTS_H_
#define FIDELIO_SERVER_RPC_CALL_PARTS_H_

#include "server/rpc/call_loop.h"
#include "server/rpc/connection_guard.h"
#include "server/rpc/worker_pool.h"

namespace fidelio {

struct CallParts {
  CallLoop* loop = nullptr;
  WorkerPool* workers = nullptr;
  ConnectionGuard* guard = nullptr;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_CALL_PARTS_H_
