// Checks PEM files before gRPC sees them: gRPC only says "handshake failed".
//
// Errors say the rule alone; the caller names setting and path.
#ifndef FIDELIO_SERVER_AUTH_PEM_H_
#define FIDELIO_SERVER_AUTH_PEM_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace fidelio {

struct CertificateDates {
  absl::Time not_before;
  absl::Time not_after;
};

// Checks that `pem` holds one or more certificates; answers the dates of the first.
absl::StatusOr<CertificateDates> CheckCertificates(const std::string& pem);

// Checks that `key_pem` is a private key without a passphrase, and that of the first certificate of `cert_pem`, which
// CheckCertificates accepts.
absl::Status CheckKey(const std::string& key_pem, const std::string& cert_pem);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_AUTH_PEM_H_
