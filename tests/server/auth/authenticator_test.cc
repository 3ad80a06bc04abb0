#include "server/auth/authenticator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "absl/synchronization/notification.h"
#include "server/auth/periodic.h"

namespace fidelio {
namespace {

std::string Line(const std::string& name, const std::string& role, std::string_view token) {
  return name + " " + role + " " + FormatDigest(DigestOf(token)) + "\n";
}

class AuthenticatorTest : public testing::Test {
 protected:
  AuthenticatorTest() {
    directory_ = testing::TempDir() + "authenticator_test_XXXXXX";
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    path_ = directory_ + "/tokens";
    Replace(Line("ci", "writer", "one"));
  }
  ~AuthenticatorTest() override { std::filesystem::remove_all(directory_); }

  // As editors and configuration managers do it: a new file takes the name of the old.
  void Replace(const std::string& text) {
    std::ofstream(path_ + ".new") << text;
    ASSERT_EQ(std::rename((path_ + ".new").c_str(), path_.c_str()), 0);
  }

  std::string directory_;
  std::string path_;
  std::ostringstream log_;
  std::unique_ptr<Logger> logger_ = Logger::ToStream(LogFormat::kText, LogLevel::kInfo, log_);
};

TEST_F(AuthenticatorTest, ATokenBecomesItsPrincipal) {
  const auto authenticator = Authenticator::FromFile(path_, logger_.get());
  ASSERT_TRUE(authenticator.ok()) << authenticator.status();
  EXPECT_TRUE((*authenticator)->required());
  for (const char* value : {"Bearer one", "bearer one"}) {
    const auto principal = (*authenticator)->Authenticate(value);
    ASSERT_TRUE(principal.ok()) << principal.status();
    EXPECT_EQ(principal->name, "ci");
    EXPECT_EQ(principal->role, Role::kWriter);
  }
}

TEST_F(AuthenticatorTest, EverythingElseIsUnauthenticatedAndNotRepeated) {
  const auto authenticator = Authenticator::FromFile(path_, logger_.get());
  ASSERT_TRUE(authenticator.ok());
  for (const char* value : {"", "one", "Bearer", "Bearer ", "Bearer  one", "Bearer one ", "Bearer two", "Basic one"}) {
    const absl::Status status = (*authenticator)->Authenticate(value).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnauthenticated) << value;
    EXPECT_EQ(status.message().find("two"), std::string::npos);
  }
  EXPECT_EQ((*authenticator)->Authenticate("").status().message(),
            "authorization: missing; this server needs the metadata authorization: Bearer TOKEN");
}

TEST_F(AuthenticatorTest, WithoutTokensEverybodyIsAdmin) {
  const auto authenticator = Authenticator::Open();
  EXPECT_FALSE(authenticator->required());
  EXPECT_EQ(authenticator->Authenticate("")->role, Role::kAdmin);
  EXPECT_EQ(authenticator->Authenticate("Bearer x")->name, "anonymous");
  EXPECT_TRUE(authenticator->Reload(true).ok());
}

TEST_F(AuthenticatorTest, AMissingOrBadFileIsAnErrorAtStart) {
  const absl::Status missing = Authenticator::FromFile(directory_ + "/none", logger_.get()).status();
  EXPECT_EQ(missing.message(),
            "tokens_file = \"" + directory_ + "/none\": must be a file that can be read: No such file or directory");
  Replace("bad\n");
  EXPECT_EQ(Authenticator::FromFile(path_, logger_.get()).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(AuthenticatorTest, AChangedFileIsReadAgain) {
  const auto authenticator = Authenticator::FromFile(path_, logger_.get());
  ASSERT_TRUE(authenticator.ok());
  ASSERT_TRUE((*authenticator)->Reload().ok());
  EXPECT_EQ(log_.str(), "") << "an unchanged file is left alone";
  Replace(Line("new", "reader", "two"));
  ASSERT_TRUE((*authenticator)->Reload().ok());
  EXPECT_FALSE((*authenticator)->Authenticate("Bearer one").ok()) << "revoked";
  EXPECT_EQ((*authenticator)->Authenticate("Bearer two")->name, "new");
  EXPECT_NE(log_.str().find("tokens reloaded"), std::string::npos);
}

TEST_F(AuthenticatorTest, OfABadNewFileOnlyTheGoodLinesAreValid) {
  Replace(Line("kept", "reader", "kept") + Line("removed", "writer", "removed") + Line("broken", "writer", "broken"));
  Metrics metrics({}, "1.2.3");
  const auto authenticator = Authenticator::FromFile(path_, logger_.get(), &metrics);
  ASSERT_TRUE(authenticator.ok());
  EXPECT_NE(metrics.Serialize().find("fidelio_tokens_file_errors_total 0"), std::string::npos);
  Replace(Line("kept", "reader", "kept") + "# comment\n" + "broken writer nonsense\n" + Line("new", "reader", "new"));
  EXPECT_EQ((*authenticator)->Reload().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE((*authenticator)->Authenticate("Bearer kept").ok());
  EXPECT_TRUE((*authenticator)->Authenticate("Bearer new").ok());
  EXPECT_FALSE((*authenticator)->Authenticate("Bearer removed").ok());
  EXPECT_FALSE((*authenticator)->Authenticate("Bearer broken").ok());
  const std::string log = log_.str();
  EXPECT_NE(log.find("tokens:3: digest of 8 characters"), std::string::npos) << log;
  EXPECT_NE(log.find("error"), std::string::npos) << log;
  EXPECT_NE(metrics.Serialize().find("fidelio_tokens_file_errors_total 1"), std::string::npos);
}

TEST_F(AuthenticatorTest, AnEmptiedOrDeletedFileRevokesAllTokens) {
  for (const bool deleted : {false, true}) {
    Replace(Line("ci", "writer", "one"));
    const auto authenticator = Authenticator::FromFile(path_, logger_.get());
    ASSERT_TRUE(authenticator.ok());
    if (deleted) {
      std::filesystem::remove(path_);
    } else {
      Replace("");
    }
    EXPECT_FALSE((*authenticator)->Reload().ok());
    EXPECT_EQ((*authenticator)->Authenticate("Bearer one").status().code(), absl::StatusCode::kUnauthenticated);
    Replace(Line("ci", "writer", "one"));
    EXPECT_TRUE((*authenticator)->Reload().ok());
    EXPECT_TRUE((*authenticator)->Authenticate("Bearer one").ok());
  }
}

TEST_F(AuthenticatorTest, AProblemIsLoggedOnce) {
  const auto authenticator = Authenticator::FromFile(path_, logger_.get());
  ASSERT_TRUE(authenticator.ok());
  std::filesystem::remove(path_);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE((*authenticator)->Reload().ok());
  const std::string log = log_.str();
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
  EXPECT_NE(log.find("No such file"), std::string::npos) << log;
}

TEST_F(AuthenticatorTest, TheQuotasOfATokenAreKnownByItsName) {
  Replace("ci writer " + FormatDigest(DigestOf("one")) + " max_observations=5\n");
  const auto authenticator = Authenticator::FromFile(path_, logger_.get());
  ASSERT_TRUE(authenticator.ok());
  ASSERT_TRUE((*authenticator)->QuotasOf("ci").has_value());
  EXPECT_EQ((*authenticator)->QuotasOf("ci")->max_observations, 5);
  EXPECT_FALSE((*authenticator)->QuotasOf("gone").has_value());
  EXPECT_FALSE(Authenticator::Open()->QuotasOf("ci").has_value());
}

TEST_F(AuthenticatorTest, ATokenOfBothFilesIsValidThroughoutAReload) {
  Replace(Line("a", "reader", "always"));
  const auto authenticator = Authenticator::FromFile(path_, logger_.get());
  ASSERT_TRUE(authenticator.ok());
  std::atomic<bool> stop{false};
  std::atomic<int> refused{0};
  std::thread caller([&] {
    while (!stop) {
      if (!(*authenticator)->Authenticate("Bearer always").ok()) ++refused;
    }
  });
  for (int i = 0; i < 50; ++i) {
    Replace(Line("a", "reader", "always") + Line("b", "reader", std::to_string(i)));
    EXPECT_TRUE((*authenticator)->Reload(true).ok());
  }
  stop = true;
  caller.join();
  EXPECT_EQ(refused, 0);
}

TEST(PeriodicTest, CallsAgainAndAgain) {
  absl::Notification twice;
  int calls = 0;
  Periodic periodic(absl::Milliseconds(1), [&](bool forced) {
    EXPECT_FALSE(forced);
    if (++calls == 2) twice.Notify();
  });
  twice.WaitForNotification();
}

TEST(PeriodicTest, ATriggerDoesNotWaitForThePeriod) {
  absl::Notification called;
  Periodic periodic(absl::Hours(1), [&](bool forced) {
    EXPECT_TRUE(forced);
    called.Notify();
  });
  periodic.Trigger();
  called.WaitForNotification();
}

}  // namespace
}  // namespace fidelio
