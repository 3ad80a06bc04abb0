// How an error of the lower layers answers a call: absl::Status to grpc::Status with details of google.rpc.
//
// | code                                 | details                                                                |
// | INVALID_ARGUMENT                     | BadRequest: `path: rest` of the message is field and description       |
// | NOT_FOUND, ALREADY_EXISTS, DATA_LOSS | ResourceInfo: the resource detail, or the name that begins the message |
// | FAILED_PRECONDITION                  | PreconditionFailure: its detail, or the message                        |
// | ABORTED                              | ErrorInfo: the reason detail, or CONCURRENT_CHANGE                     |
// | RESOURCE_EXHAUSTED                   | QuotaFailure: its detail; otherwise RetryInfo                          |
// | UNAVAILABLE                          | RetryInfo                                                              |
// | UNAUTHENTICATED, PERMISSION_DENIED   | none, whatever is attached: they say nothing about what exists         |
//
// A reason or a delay that is attached is told with the other codes as well. Where RetryInfo is due and no delay is
// attached, it is kDefaultRetryDelay. Messages are made valid UTF-8 and cut, so that trailers stay below the 8 KiB that
// clients accept.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_SERVER_RPC_ERRORS_H_
#define FIDELIO_SERVER_RPC_ERRORS_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/support/status.h"

namespace fidelio {

inline constexpr absl::Duration kDefaultRetryDelay = absl::Seconds(1);
inline constexpr size_t kMaxMessageBytes = 800;
inline constexpr char kErrorDomain[] = "fidelio";  // of ErrorInfo

// As a message, for Fit.error. OK becomes code 0.
google::rpc::Status ToRpcStatus(const absl::Status& status);

// As the end of a call: the message above travels in the trailer grpc-status-details-bin.
grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_ERRORS_H_
