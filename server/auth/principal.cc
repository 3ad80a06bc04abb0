#include "server/auth/principal.h"

#include "absl/strings/str_cat.h"
#include "server/telemetry/escape.h"

namespace fidelio {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

std::string_view RoleName(Role role) {
  switch (role) {
    case Role::kReader:
      return "reader";
    case Role::kWriter:
      return "writer";
    case Role::kAdmin:
      break;
  }
  return "admin";
}

bool MaySee(const Principal& principal, std::string_view model) { return model.starts_with(principal.prefix); }

absl::Status Authorize(const Principal& principal, Role needed, std::string_view method, std::string_view model) {
  if (principal.role < needed) {
    return absl::PermissionDeniedError(absl::StrCat("token \"", principal.name, "\" has the role ",
                                                    View(RoleName(principal.role)), ", but ", View(method),
                                                    " needs the role ", View(RoleName(needed))));
  }
  if (!model.empty() && !MaySee(principal, model)) {
    return absl::PermissionDeniedError(absl::StrCat("model \"", EscapeForLog(model, 80), "\": token \"", principal.name,
                                                    "\" may use only models whose names start with \"",
                                                    principal.prefix, "\""));
  }
  return absl::OkStatus();
}

}  // namespace fidelio
