#include "server/auth/plain_credentials.h"

#include <grpc/grpc.h>

#include <string>

namespace fidelio {
namespace {

class PlainCredentials final : public grpc::ServerCredentials {
 public:
  explicit PlainCredentials(const grpc_auth_metadata_processor& processor) : processor_(processor) {}
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    grpc_server_credentials* const credentials = grpc_insecure_server_credentials_create();
    grpc_server_credentials_set_auth_metadata_processor(credentials, processor_);
    const int port = grpc_server_add_http2_port(server, address.c_str(), credentials);
    grpc_server_credentials_release(credentials);
    return port;
  }

  const grpc_auth_metadata_processor processor_;
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> NewPlainCredentials(const grpc_auth_metadata_processor& processor) {
  return std::make_shared<PlainCredentials>(processor);
}

}  // namespace fidelio
