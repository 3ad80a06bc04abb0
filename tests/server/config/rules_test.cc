#include "server/config/rules.h"

#include <gtest/gtest.h>

namespace fidelio {
namespace {

// The settings that are blamed.
std::vector<std::string> Blamed(const ServerConfig& config) {
  std::vector<std::string> names;
  for (const RuleViolation& violation : CheckRules(config)) names.push_back(violation.setting);
  return names;
}

using Names = std::vector<std::string>;

TEST(RulesTest, APublicAddressNeedsTlsAndTokensOrInsecure) {
  ServerConfig config{.listen = {"0.0.0.0", 50051}};
  ASSERT_EQ(Blamed(config), Names{"listen"});
  EXPECT_NE(CheckRules(config)[0].rule.find("set tls_cert, tls_key, tokens_file"), std::string::npos);
  config.tls_cert = "c";
  config.tls_key = "k";
  ASSERT_EQ(Blamed(config), Names{"listen"});
  EXPECT_NE(CheckRules(config)[0].rule.find("set tokens_file (or insecure"), std::string::npos);
  config.tokens_file = "t";
  EXPECT_EQ(Blamed(config), Names{});
  config.tls_cert = config.tls_key = "";
  EXPECT_EQ(Blamed(config), Names{"listen"}) << "tokens without TLS can be read on the way";
  config.insecure = true;
  EXPECT_EQ(Blamed(config), Names{});
}

TEST(RulesTest, CertificateAndKeyNeedEachOther) {
  EXPECT_EQ(Blamed({.tls_cert = "c"}), Names{"tls_cert"});
  EXPECT_EQ(Blamed({.tls_key = "k"}), Names{"tls_key"});
  EXPECT_EQ(Blamed({.tls_client_ca = "a"}), Names{"tls_client_ca"});
  EXPECT_EQ(Blamed({.tls_cert = "c", .tls_key = "k", .tls_client_ca = "a"}), Names{});
}

TEST(RulesTest, MetricsStayOnThisMachineUnlessMadePublic) {
  ServerConfig config{.metrics_address = Address{"0.0.0.0", 9464}};
  EXPECT_EQ(Blamed(config), Names{"metrics_address"});
  config.metrics_public = true;
  EXPECT_EQ(Blamed(config), Names{});
  EXPECT_EQ(Blamed({.metrics_address = Address{"127.0.0.1", 50051}}), Names{"metrics_address"});
  EXPECT_EQ(Blamed({.metrics_address = std::nullopt}), Names{});
  EXPECT_EQ(Blamed({.metrics_address = Address{"::1", 9464}}), Names{"metrics_address"});
}

TEST(RulesTest, ThreadsOfFitsLeaveSomeForCalls) {
  EXPECT_EQ(Blamed({.fit_workers = 8, .fit_threads = 32}), Names{"max_threads"});
  ServerConfig config{.fit_workers = 8, .fit_threads = 32, .max_threads = 8 * 32 + kReservedThreads + 4};
  EXPECT_EQ(Blamed(config), Names{});
  EXPECT_EQ(CallThreads(config), 4);
  EXPECT_NE(CheckRules({.fit_workers = 8, .fit_threads = 32})[0].rule.find("at least 300"), std::string::npos);
}

TEST(RulesTest, LimitsThatContainEachOtherAreOrdered) {
  EXPECT_EQ(Blamed({.max_memory_mib = 100, .max_message_mib = 64}), Names{"max_memory_mib"});
  EXPECT_EQ(Blamed({.max_observations = 10, .max_batch = 11}), Names{"max_batch"});
}

TEST(RulesTest, ReflectionIsOffWhenTokensAreRequiredUnlessAskedFor) {
  EXPECT_TRUE(ReflectionEnabled({}));
  EXPECT_FALSE(ReflectionEnabled({.tokens_file = "t"}));
  EXPECT_TRUE(ReflectionEnabled({.tokens_file = "t", .reflection = Reflection::kOn}));
  EXPECT_FALSE(ReflectionEnabled({.reflection = Reflection::kOff}));
}

}  // namespace
}  // namespace fidelio
