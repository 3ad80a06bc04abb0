// Request ids, by which a server recognises retries.
#ifndef FIDELIO_CLIENT_CPP_REQUEST_ID_H_
#define FIDELIO_CLIENT_CPP_REQUEST_ID_H_

#include <string>

#include "client/cpp/types.h"

namespace fidelio::client {

// 128 random bits as 32 hexadecimal digits, different in every call and process. Safe from every thread.
std::string NewRequestId();

// The caller's request id, or a new one.
std::string RequestId(const CallOptions& call);

}  // namespace fidelio::client

#endif  // FIDELIO_CLIENT_CPP_REQUEST_ID_H_
