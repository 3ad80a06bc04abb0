#include "server/model/loaded_revision.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/model/enum_names.h"
#include "server/model/method_choice.h"

namespace fidelio {

LoadedRevision::LoadedRevision(RevisionInfo info, int fidelities, std::unique_ptr<const Emulator> emulator,
                               int64_t bytes)
    : info_(std::move(info)), fidelities_(fidelities), emulator_(std::move(emulator)), bytes_(bytes) {}

absl::StatusOr<int> LoadedRevision::EmulatorLevel(std::optional<int64_t> level, absl::string_view field) const {
  const int64_t top = fidelities_ - 1;
  const int64_t wanted = level.value_or(top);
  if (wanted < 0 || wanted > top) {
    return absl::InvalidArgumentError(absl::StrCat(field, ": ", wanted, ", but model \"", info_.model, "\" has ",
                                                   fidelities_, " fidelities: want 0 to ", top));
  }
  if (LearnsFromHighestOnly(info_.kind)) {
    if (wanted == top) return 0;
    return absl::InvalidArgumentError(absl::StrCat(field, ": ", wanted, ", but model \"", info_.model, "\" is of kind ",
                                                   NameOf(info_.kind),
                                                   ", which predicts only the highest fidelity: must be ", top));
  }
  return static_cast<int>(wanted);
}

absl::Duration LoadedRevision::PointTime() const {
  const int64_t known = point_nanoseconds_.load(std::memory_order_relaxed);
  return known < 0 ? absl::InfiniteDuration() : absl::Nanoseconds(known);
}

void LoadedRevision::RecordPointTime(absl::Duration time) const {
  const int64_t now = absl::ToInt64Nanoseconds(time), known = point_nanoseconds_.load(std::memory_order_relaxed);
  const int64_t next = known < 0 || now < known ? now : known + (now - known) / 16;
  point_nanoseconds_.store(next, std::memory_order_relaxed);  // a hint: whoever comes last is right
}

}  // namespace fidelio
