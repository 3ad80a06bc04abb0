#include "server/rpc/memory_budget.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/status/errors.h"

namespace fidelio {

absl::StatusOr<MemoryBudget::Reservation> MemoryBudget::Reserve(int64_t bytes) {
  const int64_t wanted = std::min(bytes, total_);
  const int64_t before = used_.fetch_add(wanted, std::memory_order_relaxed);
  Reservation reservation(this, wanted);
  if (before > total_ - wanted) {
    return ExhaustedError(absl::StrCat("memory: this call needs ", bytes, " bytes, but others in flight have ", before,
                                       " of the ", total_, " that calls may use together"),
                          absl::Seconds(1));
  }
  return reservation;
}

}  // namespace fidelio
