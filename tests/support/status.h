// Assertions about absl::Status, for tests.
#ifndef FIDELIO_TESTS_SUPPORT_STATUS_H_
#define FIDELIO_TESTS_SUPPORT_STATUS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace fidelio {

// An error with this code whose message contains all of `parts`.
inline ::testing::AssertionResult IsError(const absl::Status& status, absl::StatusCode code,
                                          const std::vector<std::string>& parts) {
  if (status.code() != code) {
    return ::testing::AssertionFailure() << "status is " << status.ToString() << ", want "
                                         << absl::StatusCodeToString(code);
  }
  for (const std::string& part : parts) {
    if (!absl::StrContains(status.message(), part)) {
      return ::testing::AssertionFailure() << "message \"" << status.message() << "\" lacks \"" << part << "\"";
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_STATUS_H_
