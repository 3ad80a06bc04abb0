// LoadedRevision: a revision in memory, ready to predict.
//
// Immutable; safe to share between threads. Whoever holds one may use it for as long as it likes: neither a fit, nor a
// rollback, nor the deletion of the model takes it away.
#ifndef FIDELIO_SERVER_MODEL_LOADED_REVISION_H_
#define FIDELIO_SERVER_MODEL_LOADED_REVISION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "core/emulator/emulator.h"
#include "core/emulator/skewness.h"  // of what the emulator predicts
#include "server/model/model_types.h"

namespace fidelio {

class LoadedRevision {
 public:
  LoadedRevision(RevisionInfo info, int fidelities, std::unique_ptr<const Emulator> emulator, int64_t bytes);

  const RevisionInfo& info() const { return info_; }
  const std::string& model() const { return info_.model; }
  int64_t revision() const { return info_.id; }
  int64_t data_version() const { return info_.data_version; }
  int input_dimension() const { return emulator_->input_dimension(); }
  int fidelities() const { return fidelities_; }

  // The options' `level` of the emulator for a level of the model (absent: the highest). INVALID_ARGUMENT, with a message
  // that begins with `field`, when the model has no such level or its kind does not predict it: a GP predicts the highest
  // alone, which is its emulator's only one.
  absl::StatusOr<int> EmulatorLevel(std::optional<int64_t> level, absl::string_view field) const;

  // The level of the model that a level of the emulator is.
  int ModelLevel(int emulator_level) const { return fidelities_ - emulator_->levels() + emulator_level; }

  const Emulator& emulator() const { return *emulator_; }

  int64_t bytes() const { return bytes_; }  // of memory, an estimate

  // How long predictions of few points take, per point, as far as RecordPointTime was told; infinite before that. It
  // follows shorter times at once and longer ones slowly, as these may be the fault of other work.
  absl::Duration PointTime() const;
  void RecordPointTime(absl::Duration time) const;

 private:
  const RevisionInfo info_;
  const int fidelities_;
  const std::unique_ptr<const Emulator> emulator_;
  const int64_t bytes_;
  mutable std::atomic<int64_t> point_nanoseconds_ = -1;  // negative: not known
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_LOADED_REVISION_H_
