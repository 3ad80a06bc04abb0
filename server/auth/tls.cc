#include "server/auth/tls.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/auth/pem.h"
#include "server/config/read_file.h"

namespace fidelio {
namespace {

absl::StatusOr<std::string> ReadSetting(const char* setting, const std::string& path) {
  absl::StatusOr<std::string> text = ReadSmallFile(path);
  if (text.ok()) return text;
  return absl::InvalidArgumentError(absl::StrCat(setting, " = \"", path, "\": ", text.status().message()));
}

absl::Status Blame(const char* setting, const std::string& path, const absl::Status& status) {
  return absl::InvalidArgumentError(absl::StrCat(setting, " = \"", path, "\": ", status.message()));
}

}  // namespace

struct TlsIdentity::Port {
  TlsIdentity* identity;
  int64_t told = 0;  // the generation of what gRPC has; guarded by the identity's mutex_

  // gRPC calls this at every handshake; `config` is set when there is something new for this port.
  static grpc_ssl_certificate_config_reload_status Fetch(void* data, grpc_ssl_server_certificate_config** config) {
    auto* const port = static_cast<Port*>(data);
    TlsIdentity& identity = *port->identity;
    absl::MutexLock lock(&identity.mutex_);
    if (port->told == identity.generation_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    const grpc_ssl_pem_key_cert_pair pair = {identity.pem_.key.c_str(), identity.pem_.cert.c_str()};
    // gRPC insists on authorities even where no client certificate is asked for; any do, as they are not used then.
    const Pem& pem = identity.pem_;
    const std::string& authorities = identity.files_.client_ca.empty() ? pem.cert : pem.client_ca;
    *config = grpc_ssl_server_certificate_config_create(authorities.c_str(), &pair, 1);
    port->told = identity.generation_;
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }
};

// gRPC's C++ interface has no credentials that ask for their certificates, but its C interface has.
class TlsIdentity::Credentials : public grpc::ServerCredentials {
 public:
  Credentials(Port* port, bool mutual, const grpc_auth_metadata_processor& processor)
      : credentials_(grpc_ssl_server_credentials_create_with_options(
            grpc_ssl_server_credentials_create_options_using_config_fetcher(
                mutual ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                       : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
                &Port::Fetch, port))) {
    grpc_server_credentials_set_auth_metadata_processor(credentials_, processor);
  }
  ~Credentials() override { grpc_server_credentials_release(credentials_); }

  // Tokens are checked call by call (authenticator.h).
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  grpc_server_credentials* const credentials_;
};

TlsIdentity::TlsIdentity(const TlsFiles& files, Logger* logger) : files_(files), logger_(logger) {}

TlsIdentity::~TlsIdentity() = default;

absl::StatusOr<std::unique_ptr<TlsIdentity>> TlsIdentity::Load(const TlsFiles& files, Logger* logger) {
  auto identity = std::unique_ptr<TlsIdentity>(new TlsIdentity(files, logger));
  const absl::Status status = identity->Reload(/*force=*/true);
  if (!status.ok()) return status;
  return identity;
}

std::shared_ptr<grpc::ServerCredentials> TlsIdentity::NewCredentials(const grpc_auth_metadata_processor& processor) {
  Port* port;
  {
    absl::MutexLock lock(&mutex_);
    port = ports_.emplace_back(std::make_unique<Port>(Port{.identity = this})).get();
  }
  return std::make_shared<Credentials>(port, !files_.client_ca.empty(), processor);
}

std::array<FileStamp, 3> TlsIdentity::Stamps() const {
  return {StampOf(files_.cert), StampOf(files_.key), StampOf(files_.client_ca)};
}

absl::StatusOr<TlsIdentity::Pem> TlsIdentity::Read() const {
  Pem pem;
  absl::StatusOr<std::string> cert = ReadSetting("tls_cert", files_.cert);
  if (!cert.ok()) return cert.status();
  pem.cert = *std::move(cert);
  const absl::StatusOr<CertificateDates> dates = CheckCertificates(pem.cert);
  if (!dates.ok()) return Blame("tls_cert", files_.cert, dates.status());

  absl::StatusOr<std::string> key = ReadSetting("tls_key", files_.key);
  if (!key.ok()) return key.status();
  pem.key = *std::move(key);
  const absl::Status matches = CheckKey(pem.key, pem.cert);
  if (!matches.ok()) return Blame("tls_key", files_.key, matches);

  if (!files_.client_ca.empty()) {
    absl::StatusOr<std::string> client_ca = ReadSetting("tls_client_ca", files_.client_ca);
    if (!client_ca.ok()) return client_ca.status();
    pem.client_ca = *std::move(client_ca);
    const auto authorities = CheckCertificates(pem.client_ca);
    if (!authorities.ok()) return Blame("tls_client_ca", files_.client_ca, authorities.status());
  }

  // Clients decide what they make of the dates, so this is no reason to refuse to start.
  const absl::Time now = absl::Now();
  if (now < dates->not_before || now > dates->not_after) {
    logger_->Log(LogLevel::kWarning, "the certificate is not valid at this time",
                 {{"file", files_.cert},
                  {"not_before", absl::FormatTime(dates->not_before, absl::UTCTimeZone())},
                  {"not_after", absl::FormatTime(dates->not_after, absl::UTCTimeZone())}});
  }
  return pem;
}

absl::Status TlsIdentity::Reload(bool force) {
  absl::MutexLock reload_lock(&reload_mutex_);
  // Before the files are read: a change in between is seen at the next reload.
  const std::array<FileStamp, 3> stamps = Stamps();
  if (stamps == stamps_ && !force) return absl::OkStatus();
  stamps_ = stamps;  // also of bad files: they are logged once, not at every look
  absl::StatusOr<Pem> pem = Read();
  int64_t generation;
  {
    absl::MutexLock lock(&mutex_);
    generation = generation_;
    if (pem.ok()) {
      pem_ = *std::move(pem);
      ++generation_;
    }
  }
  if (generation == 0) return pem.status();  // the caller reports it
  if (pem.ok()) {
    logger_->Log(LogLevel::kInfo, "TLS files reloaded", {{"file", files_.cert}});
  } else {
    logger_->Log(LogLevel::kError, "the new TLS files are bad; new connections get the old certificate",
                 {{"problem", std::string(pem.status().message())}});
  }
  return pem.status();
}

}  // namespace fidelio
