#include "tests/server/auth/test_certificates.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <memory>

namespace fidelio {
namespace {

template <auto function>
struct Free {
  void operator()(auto* object) const { function(object); }
};
using Bio = std::unique_ptr<BIO, Free<BIO_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;

std::string Contents(BIO* bio) {
  char* data;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

void AddExtension(X509* certificate, X509* issuer, int id, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

TestCertificate Make(const TestCertificate* authority, const std::string& name, int days) {
  static std::atomic<long> serial{1};
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), days * 86400L);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  Certificate issuer;
  Key issuer_key;
  if (authority != nullptr) {
    const Bio cert_bio(BIO_new_mem_buf(authority->cert.data(), -1));
    issuer.reset(PEM_read_bio_X509(cert_bio.get(), nullptr, nullptr, nullptr));
    const Bio key_bio(BIO_new_mem_buf(authority->key.data(), -1));
    issuer_key.reset(PEM_read_bio_PrivateKey(key_bio.get(), nullptr, nullptr, nullptr));
    AddExtension(certificate.get(), issuer.get(), NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
  } else {
    AddExtension(certificate.get(), certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  }
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer ? issuer.get() : certificate.get()));
  X509_sign(certificate.get(), issuer_key ? issuer_key.get() : key.get(), EVP_sha256());

  TestCertificate result;
  const Bio cert_out(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(cert_out.get(), certificate.get());
  result.cert = Contents(cert_out.get());
  const Bio key_out(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(key_out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  result.key = Contents(key_out.get());
  return result;
}

}  // namespace

TestCertificate MakeAuthority(const std::string& name) { return Make(nullptr, name, 1); }

TestCertificate MakeCertificate(const TestCertificate& authority, const std::string& name, int days) {
  return Make(&authority, name, days);
}

}  // namespace fidelio
