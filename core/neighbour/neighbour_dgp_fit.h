// NeighbourDgpFit: a fit with neighbour layers (neighbour_dgp.h) that can be saved while it runs and continued later, in another process.
//
//   neighbours   level by level of the stack: for each kernel family L-BFGS on Vecchia's likelihood of 2,000 conditionals; for
//                the best of them again, with neighbours in inputs divided by its lengthscales, until these stay
//   optimise …   the levels above, by the search of MF_DGP. With more than 300 observations the kernel family and a start are found on
//                300 of them (a sketch), and the mode from there on all
// Deterministic for a seed, whatever the number of threads, unless a budget ends it. Saved states do not hold the data.
#ifndef FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_DGP_FIT_H_
#define FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_DGP_FIT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/export.h"
#include "core/emulator/emulator_fit.h"
#include "core/emulator/fit_options.h"
#include "core/neighbour/neighbour_dgp.h"

namespace fidelio {

class FIDELIO_EXPORT NeighbourDgpFit final : public EmulatorFit {
 public:
  ~NeighbourDgpFit() override;

  // `neighbours`: how many observations a layer looks at.
  static absl::StatusOr<std::unique_ptr<NeighbourDgpFit>> Create(const Dataset& data, const FitOptions& options,
                                                                 int neighbours = kDefaultNeighbours);

  // Continues what SaveState() wrote for a fit of `data`; options are inside, `threads` as in FitOptions.
  static absl::StatusOr<std::unique_ptr<NeighbourDgpFit>> Resume(absl::string_view bytes, const Dataset& data,
                                                                 int threads);

  absl::StatusOr<std::unique_ptr<MixtureEmulator>> Run(FitObserver* observer) override;
  std::string SaveState() const override;

  // An estimate of the memory, in bytes, of a fit of this many observations per level.
  static double MemoryBytes(const std::vector<int64_t>& counts, int dimension, int threads);

 private:
  struct Impl;
  explicit NeighbourDgpFit(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_DGP_FIT_H_
