#include "client/cli/exit_code.h"

#include "gtest/gtest.h"

namespace fidelio::cli {
namespace {

TEST(ExitCodeTest, EveryClassOfErrorHasItsOwn) {
  using Code = absl::StatusCode;
  for (const auto& [status, code] : std::initializer_list<std::pair<Code, int>>{{Code::kOk, 0},
                                                                                {Code::kInternal, 1},
                                                                                {Code::kUnimplemented, 1},
                                                                                {Code::kInvalidArgument, 3},
                                                                                {Code::kNotFound, 4},
                                                                                {Code::kAlreadyExists, 5},
                                                                                {Code::kAborted, 5},
                                                                                {Code::kFailedPrecondition, 6},
                                                                                {Code::kUnauthenticated, 7},
                                                                                {Code::kPermissionDenied, 7},
                                                                                {Code::kResourceExhausted, 8},
                                                                                {Code::kUnavailable, 9},
                                                                                {Code::kDeadlineExceeded, 9},
                                                                                {Code::kDataLoss, 10}}) {
    EXPECT_EQ(static_cast<int>(ExitCodeOf(absl::Status(status, ""))), code) << absl::StatusCodeToString(status);
  }
}

}  // namespace
}  // namespace fidelio::cli
