// SviFit: a fit of an MF-DGP of sparse layers by inference SVI, the training as published (svi_training.h).
//
// options.steps: kPublishedSteps where it is 0. With a time budget, the phases are shares of the time where that ends first.
#ifndef FIDELIO_CORE_DGP_SPARSE_SVI_FIT_H_
#define FIDELIO_CORE_DGP_SPARSE_SVI_FIT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/export.h"
#include "core/emulator/emulator_fit.h"

namespace fidelio {

// Kind of sealed bytes (core/base/bytes.h).
inline constexpr uint32_t kSviFitKind = 43;

class FIDELIO_EXPORT SviFit final : public EmulatorFit {
 public:
  ~SviFit() override;

  static absl::StatusOr<std::unique_ptr<SviFit>> Create(const Dataset& data, const FitOptions& options);

  // Continues what SaveState wrote, with the data that the fit was created with; `threads` as in FitOptions.
  static absl::StatusOr<std::unique_ptr<SviFit>> Resume(absl::string_view bytes, const Dataset& data, int threads = 0);

  // Gives a FittedEmulator with a SparseMfDgpPosterior.
  absl::StatusOr<std::unique_ptr<MixtureEmulator>> Run(FitObserver* observer = nullptr) override;
  std::string SaveState() const override;

  // An estimate of the memory, in bytes, of a fit of this many observations per level with these options.
  static double MemoryBytes(const std::vector<int64_t>& counts, int dimension, const FitOptions& options);

 private:
  struct Impl;
  explicit SviFit(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_SPARSE_SVI_FIT_H_
