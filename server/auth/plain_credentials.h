// Credentials of a port without TLS, whose calls a processor sees when they begin: gRPC's own have none.
#ifndef FIDELIO_SERVER_AUTH_PLAIN_CREDENTIALS_H_
#define FIDELIO_SERVER_AUTH_PLAIN_CREDENTIALS_H_

#include <grpc/grpc_security.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>

namespace fidelio {

// What `processor` refers to outlives the credentials and every server that uses them.
std::shared_ptr<grpc::ServerCredentials> NewPlainCredentials(const grpc_auth_metadata_processor& processor);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_AUTH_PLAIN_CREDENTIALS_H_
