// MemoryBudget: what calls in flight may use of memory together, reserved before it is allocated.
//
// A call that does not find room is refused at once, instead of the process being killed later. One that alone needs
// more than everything gets everything, once nobody else has any: limits of single calls are not this class's business.
//
// Thread-safe. Must outlive its reservations.
#ifndef FIDELIO_SERVER_RPC_MEMORY_BUDGET_H_
#define FIDELIO_SERVER_RPC_MEMORY_BUDGET_H_

#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"

namespace fidelio {

class MemoryBudget {
 public:
  // Room that is given back when it goes out of scope.
  class Reservation {
   public:
    Reservation() = default;
    Reservation(Reservation&& other) noexcept { *this = std::move(other); }
    Reservation& operator=(Reservation&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Reservation() {
      if (budget_ != nullptr) budget_->used_.fetch_sub(bytes_, std::memory_order_relaxed);
    }

   private:
    friend class MemoryBudget;
    Reservation(MemoryBudget* budget, int64_t bytes) : budget_(budget), bytes_(bytes) {}
    MemoryBudget* budget_ = nullptr;
    int64_t bytes_ = 0;
  };

  explicit MemoryBudget(int64_t total_bytes) : total_(total_bytes) {}

  // RESOURCE_EXHAUSTED, to be tried again soon, when there is no room for so many bytes (≥ 0).
  absl::StatusOr<Reservation> Reserve(int64_t bytes);

 private:
  const int64_t total_;
  std::atomic<int64_t> used_ = 0;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_MEMORY_BUDGET_H_
