#include "server/config/rules.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace fidelio {

std::vector<RuleViolation> CheckRules(const ServerConfig& config) {
  std::vector<RuleViolation> violations;
  const bool public_listen = !IsLoopback(config.listen);
  if (public_listen && !config.insecure) {
    std::vector<std::string> missing;
    if (config.tls_cert.empty()) missing.push_back("tls_cert");
    if (config.tls_key.empty()) missing.push_back("tls_key");
    if (config.tokens_file.empty()) missing.push_back("tokens_file");
    if (!missing.empty()) {
      violations.push_back({"listen", absl::StrCat("is not a loopback address, so TLS and tokens are needed: set ",
                                                   absl::StrJoin(missing, ", "), " (or insecure, to go without)")});
    }
  }
  if (!config.tls_cert.empty() && config.tls_key.empty()) {
    violations.push_back({"tls_cert", "needs tls_key, the private key of the certificate"});
  }
  if (config.tls_cert.empty() && !config.tls_key.empty()) {
    violations.push_back({"tls_key", "needs tls_cert, the certificate of the key"});
  }
  if (config.tls_cert.empty() && !config.tls_client_ca.empty()) {
    violations.push_back({"tls_client_ca", "needs tls_cert and tls_key: mutual TLS is TLS"});
  }
  if (config.metrics_address.has_value()) {
    if (!IsLoopback(*config.metrics_address) && !config.metrics_public) {
      violations.push_back({"metrics_address",
                            "is not a loopback address, and metrics have no authentication: set metrics_public if "
                            "that is intended"});
    }
    if (absl::StrContains(config.metrics_address->host, ":")) {
      violations.push_back({"metrics_address", "must be an IPv4 address or a host name: its HTTP server has no IPv6"});
    }
    if (*config.metrics_address == config.listen && config.listen.port != 0) {
      violations.push_back({"metrics_address", "must differ from listen: metrics have a port of their own"});
    }
  }
  if (CallThreads(config) < 4) {
    violations.push_back(
        {"max_threads", absl::StrCat("must be at least ", config.max_threads - CallThreads(config) + 4,
                                     ": fit_workers ", config.fit_workers, " x fit_threads ", FitThreads(config), ", ",
                                     kReservedThreads, " for the server itself and 4 for calls")});
  }
  if (config.max_message_mib * 2 > config.max_memory_mib) {
    violations.push_back({"max_memory_mib", absl::StrCat("must be at least ", config.max_message_mib * 2,
                                                         ", twice max_message_mib: a call holds its message twice")});
  }
  if (config.max_batch > config.max_observations) {
    violations.push_back(
        {"max_batch", absl::StrCat("must be at most max_observations, which is ", config.max_observations)});
  }
  return violations;
}

}  // namespace fidelio
