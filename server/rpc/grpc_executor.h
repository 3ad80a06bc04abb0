// Without it, a thread that has read from a connection and has an event to hand out leaves the rest of that connection's work
// to a thread of gRPC's executor, if another thread has work for the connection, too. There it waits for all that was left
// before: when that is a flood, a health check waits for it, too.
#ifndef FIDELIO_SERVER_RPC_GRPC_EXECUTOR_H_
#define FIDELIO_SERVER_RPC_GRPC_EXECUTOR_H_

namespace fidelio {

// Ends the threads of gRPC's executor: threads finish what they have begun. To be called while gRPC is in use (somebody has
// a queue or a channel) and has nothing to do; lasts until nobody uses it any more. The function is an inner one of gRPC's:
// false when its library has none of that name.
bool StopGrpcExecutor();

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_GRPC_EXECUTOR_H_
