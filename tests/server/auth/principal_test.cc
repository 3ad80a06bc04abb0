#include "server/auth/principal.h"

#include <gtest/gtest.h>

namespace fidelio {
namespace {

TEST(AuthorizeTest, ARoleMayDoWhatLowerRolesMay) {
  const Role roles[] = {Role::kReader, Role::kWriter, Role::kAdmin};
  for (const Role has : roles) {
    for (const Role needed : roles) {
      const absl::Status status = Authorize({.name = "ci", .role = has}, needed, "Fit", "wing");
      EXPECT_EQ(status.code(), has >= needed ? absl::StatusCode::kOk : absl::StatusCode::kPermissionDenied);
    }
  }
  EXPECT_EQ(Authorize({.name = "ci", .role = Role::kReader}, Role::kWriter, "CreateModel", "wing").message(),
            "token \"ci\" has the role reader, but CreateModel needs the role writer");
}

TEST(AuthorizeTest, APrefixBoundsTheModels) {
  const Principal principal{.name = "ci", .role = Role::kAdmin, .prefix = "wing-"};
  EXPECT_TRUE(Authorize(principal, Role::kReader, "Predict", "wing-7").ok());
  EXPECT_TRUE(Authorize(principal, Role::kReader, "ListModels", "").ok());
  for (const char* model : {"wing", "win", "tail-1", "Wing-7"}) {
    const absl::Status status = Authorize(principal, Role::kReader, "Predict", model);
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << model;
  }
  EXPECT_EQ(Authorize(principal, Role::kReader, "Predict", "tail\n").message(),
            "model \"tail\\n\": token \"ci\" may use only models whose names start with \"wing-\"");
  EXPECT_TRUE(MaySee(principal, "wing-7"));
  EXPECT_FALSE(MaySee(principal, "tail-7"));
  EXPECT_TRUE(MaySee({}, "anything"));
}

}  // namespace
}  // namespace fidelio
