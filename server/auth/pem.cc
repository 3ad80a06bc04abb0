#include "server/auth/pem.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>

#include "absl/strings/str_cat.h"

namespace fidelio {
namespace {

template <auto function>
struct Free {
  void operator()(auto* object) const { function(object); }
};
using Bio = std::unique_ptr<BIO, Free<BIO_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;

// Never asks at the terminal: a key with a passphrase fails instead.
int NoPassphrase(char*, int, int, void*) { return -1; }

Bio Reader(const std::string& pem) { return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))); }

absl::Time TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return absl::InfinitePast();
  return absl::FromTM(parts, absl::UTCTimeZone());
}

// What OpenSSL says about the last failure; clears its memory of failures, which is per thread and shared with gRPC.
std::string OpenSslError() {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  const std::string text = reason == nullptr ? "unknown" : reason;
  ERR_clear_error();
  return text;
}

}  // namespace

absl::StatusOr<CertificateDates> CheckCertificates(const std::string& pem) {
  const Bio bio = Reader(pem);
  CertificateDates dates;
  int count = 0;
  while (const Certificate certificate{PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)}) {
    if (++count == 1) {
      dates = {TimeOf(X509_get0_notBefore(certificate.get())), TimeOf(X509_get0_notAfter(certificate.get()))};
    }
  }
  const bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string error = OpenSslError();
  if (count == 0) return absl::InvalidArgumentError(absl::StrCat("must hold a certificate in PEM: ", error));
  if (!ended) {
    return absl::InvalidArgumentError(
        absl::StrCat("must hold certificates in PEM only, but number ", count + 1, " is damaged: ", error));
  }
  return dates;
}

absl::Status CheckKey(const std::string& key_pem, const std::string& cert_pem) {
  const Bio key_bio = Reader(key_pem);
  const Key key(PEM_read_bio_PrivateKey(key_bio.get(), nullptr, NoPassphrase, nullptr));
  if (key == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("must hold a private key in PEM without a passphrase: ", OpenSslError()));
  }
  const Bio cert_bio = Reader(cert_pem);
  const Certificate certificate(PEM_read_bio_X509(cert_bio.get(), nullptr, NoPassphrase, nullptr));
  const bool match = certificate != nullptr && X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (!match) return absl::InvalidArgumentError("must hold the private key of the first certificate of tls_cert");
  return absl::OkStatus();
}

}  // namespace fidelio
