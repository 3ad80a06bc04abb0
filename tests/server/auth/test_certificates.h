// Certificates for tests, made on the spot: nothing that could expire is checked in.
#ifndef FIDELIO_TESTS_SERVER_AUTH_TEST_CERTIFICATES_H_
#define FIDELIO_TESTS_SERVER_AUTH_TEST_CERTIFICATES_H_

#include <string>

namespace fidelio {

struct TestCertificate {
  std::string cert;  // PEM
  std::string key;   // PEM
};

// A certificate authority that signs itself.
TestCertificate MakeAuthority(const std::string& name);

// A certificate for localhost and 127.0.0.1, signed by `authority`, that is valid from an hour ago for `days` days.
TestCertificate MakeCertificate(const TestCertificate& authority, const std::string& name, int days = 1);

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SERVER_AUTH_TEST_CERTIFICATES_H_
