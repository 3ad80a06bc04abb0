#include "core/emulator/fit_options.h"

#include "absl/strings/str_format.h"

namespace fidelio {

absl::Status Validate(const FitOptions& options) {
  if (options.kernel && !IsKernelFamily(*options.kernel)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("kernel: family %d is unknown", static_cast<uint32_t>(*options.kernel)));
  }
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
  const auto not_negative = [](const char* name, int64_t value) {
    return value >= 0 ? absl::OkStatus()
                      : absl::InvalidArgumentError(absl::StrFormat("%s: %d, want at least 0", name, value));
  };
  if (absl::Status status = not_negative("inducing_points", options.inducing_points); !status.ok()) return status;
  if (absl::Status status = not_negative("batch_size", options.batch_size); !status.ok()) return status;
  return not_negative("steps", options.steps);
}

}  // namespace fidelio
