#include "core/emulator/fit_options.h"

#include "absl/strings/str_format.h"

namespace fidelio {

absl::Status Validate(const FitOptions& options) {
  if (!(options.max_seconds > 0)) {
    return absl::InvalidArgumentError(absl::StrFormat("max_seconds: %g, want a number above 0", options.max_seconds));
  }
  if (options.max_iterations <= 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("max_iterations: %d, want a number above 0", options.max_iterations));
  }
  if (options.threads < 0 || options.threads > 1024) {
    return absl::InvalidArgumentError(absl::StrFormat("threads: %d, want 0 (all cores) to 1024", options.threads));
  }
  return absl::OkStatus();
}

}  // namespace fidelio
