// What the states of running fits of an MF-DGP of sparse layers have in common: options and budget, the data that they belong to, and where to
// start from.
#ifndef FIDELIO_CORE_DGP_SPARSE_SPARSE_FIT_STATE_H_
#define FIDELIO_CORE_DGP_SPARSE_SPARSE_FIT_STATE_H_

#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/bytes.h"
#include "core/data/dataset.h"
#include "core/emulator/fit_observer.h"
#include "core/emulator/fit_options.h"

namespace fidelio {

std::vector<int> CountsOf(const Dataset& data);

// θ and noise of the layers of a fitted model, in standardised units.
struct WarmLayers {
  std::vector<Vector> theta;  // empty: none
  std::vector<double> noise;
};

// Of options.warm_start. INVALID_ARGUMENT for a model of another method or shape; none where a level's noise was given and is learned
// now, or the other way round.
absl::StatusOr<WarmLayers> WarmLayersOf(const Dataset& data, const FitOptions& options);

// The fields that both fits write first: u32 recipe, u32 checksum of the data, bool kernel given, u32 kernel, u64 seed, f64 max seconds,
// i64 max iterations, i64 inducing points, i64 batch size, i64 steps; warm start: vectors θ, vector noise.
void WriteFitStart(uint32_t recipe, const Dataset& data, const FitOptions& options, const WarmLayers& warm,
                   ByteWriter& out);
struct FitStart {
  FitOptions options;
  WarmLayers warm;
};
// DATA_LOSS where `data` are not those of the fit; FAILED_PRECONDITION for another recipe.
absl::StatusOr<FitStart> ReadFitStart(uint32_t recipe, const Dataset& data, ByteReader& in);

// Asks an observer, and whether the budget is used up. `seconds` were used before this process went on.
class FitBudget {
 public:
  FitBudget(const FitOptions& options, double seconds, FitObserver* observer)
      : options_(options), before_(seconds), begin_(std::chrono::steady_clock::now()), observer_(observer) {}

  double seconds() const {
    return before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  // False to stop: cancelled, or (after at least two evaluations) out of budget.
  bool KeepGoing(const char* phase, int64_t evaluations, double fraction, double value);
  bool cancelled() const { return cancelled_; }

 private:
  const FitOptions& options_;
  double before_;
  std::chrono::steady_clock::time_point begin_;
  FitObserver* observer_;
  bool cancelled_ = false;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_SPARSE_SPARSE_FIT_STATE_H_
