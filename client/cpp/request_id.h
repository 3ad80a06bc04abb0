// Ids of logical calls, by which a server recognises a retry.
#ifndef FIDELIO_CLIENT_CPP_REQUEST_ID_H_
#define FIDELIO_CLIENT_CPP_REQUEST_ID_H_

#include <string>

#include "client/cpp/types.h"

namespace fidelio::client {

// 128 random bits as 32 hexadecimal digits: never the same twice, in any process. Safe from every thread.
std::string NewRequestId();

// That of the caller, or a new one.
std::string RequestId(const CallOptions& call);

}  // namespace fidelio::client

#endif  // FIDELIO_CLIENT_CPP_REQUEST_ID_H_
