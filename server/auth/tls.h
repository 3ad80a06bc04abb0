// TlsIdentity: the server's certificate and key, and the authorities of its clients, which can change while it runs.
//
// Files are checked before they are used: PEM that can be read, and a key that belongs to the certificate. At start a bad
// file is an error; later it is logged, and new connections go on with what was good before. That also covers the moment
// between the replacement of the certificate and that of its key. Every handshake asks for the current files, so that a
// reload touches no connection that exists.
//
// Thread-safe. Must outlive every gRPC server that uses its credentials.
#ifndef FIDELIO_SERVER_AUTH_TLS_H_
#define FIDELIO_SERVER_AUTH_TLS_H_

#include <grpc/grpc_security.h>
#include <grpcpp/security/server_credentials.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/auth/file_stamp.h"
#include "server/config/server_config.h"
#include "server/telemetry/logger.h"

namespace fidelio {

struct TlsFiles {
  std::string cert = {};
  std::string key = {};
  std::string client_ca = {};  // empty: clients need no certificate
};

inline TlsFiles TlsFilesOf(const ServerConfig& config) {
  return {.cert = config.tls_cert, .key = config.tls_key, .client_ca = config.tls_client_ca};
}

class TlsIdentity {
 public:
  // INVALID_ARGUMENT names the setting, its path and what is wrong with the file. `logger` must outlive the identity.
  static absl::StatusOr<std::unique_ptr<TlsIdentity>> Load(const TlsFiles& files, Logger* logger);
  ~TlsIdentity();

  // Credentials for one port of a server, whose calls `processor`, if it is one, sees when they begin.
  std::shared_ptr<grpc::ServerCredentials> NewCredentials(const grpc_auth_metadata_processor& processor = {})
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Reads the files if one of them changed since they were read, or with `force` in any case. To be called from time to
  // time. Returns what was logged if a new file is bad.
  absl::Status Reload(bool force = false) ABSL_LOCKS_EXCLUDED(mutex_, reload_mutex_);

 private:
  struct Pem {
    std::string cert;
    std::string key;
    std::string client_ca;
  };
  class Credentials;
  struct Port;  // what one port has been told

  TlsIdentity(const TlsFiles& files, Logger* logger);

  std::array<FileStamp, 3> Stamps() const;
  absl::StatusOr<Pem> Read() const;

  const TlsFiles files_;
  Logger* const logger_;

  absl::Mutex reload_mutex_;  // taken before mutex_
  std::array<FileStamp, 3> stamps_ ABSL_GUARDED_BY(reload_mutex_);

  mutable absl::Mutex mutex_;
  Pem pem_ ABSL_GUARDED_BY(mutex_);
  int64_t generation_ ABSL_GUARDED_BY(mutex_) = 0;                    // counts the contents of pem_
  std::vector<std::unique_ptr<Port>> ports_ ABSL_GUARDED_BY(mutex_);  // gRPC keeps pointers to the elements
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_AUTH_TLS_H_
