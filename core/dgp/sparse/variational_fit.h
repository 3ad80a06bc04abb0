// VariationalFit: a fit of an MF-DGP of sparse layers by inference VARIATIONAL (variational_search.h), deterministic for its data.
#ifndef FIDELIO_CORE_DGP_SPARSE_VARIATIONAL_FIT_H_
#define FIDELIO_CORE_DGP_SPARSE_VARIATIONAL_FIT_H_

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
inline constexpr uint32_t kVariationalFitKind = 41;

class FIDELIO_EXPORT VariationalFit final : public EmulatorFit {
 public:
  ~VariationalFit() override;

  static absl::StatusOr<std::unique_ptr<VariationalFit>> Create(const Dataset& data, const FitOptions& options);

  // Continues what SaveState wrote, with the data that the fit was created with; `threads` as in FitOptions.
  static absl::StatusOr<std::unique_ptr<VariationalFit>> Resume(absl::string_view bytes, const Dataset& data,
                                                                int threads = 0);

  // Gives a FittedEmulator with a SparseMfDgpPosterior.
  absl::StatusOr<std::unique_ptr<MixtureEmulator>> Run(FitObserver* observer = nullptr) override;
  std::string SaveState() const override;

  // An estimate of the memory, in bytes, of a fit of this many observations per level with these options.
  static double MemoryBytes(const std::vector<int64_t>& counts, int dimension, const FitOptions& options);

 private:
  struct Impl;
  explicit VariationalFit(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_SPARSE_VARIATIONAL_FIT_H_
