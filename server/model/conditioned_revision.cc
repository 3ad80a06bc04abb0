#include "server/model/conditioned_revision.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/status_macros.h"
#include "server/model/core_models.h"
#include "server/status/errors.h"

namespace fidelio {

absl::StatusOr<ConditionedRevision> ConditionRevision(const Store& store, const IndexedModel& model,
                                                      const Emulator& from, const RevisionInfo& info,
                                                      const std::vector<ObservationBlock>& added, int threads) {
  const absl::Time begin = absl::Now();
  ConditionedRevision result;
  result.model_data_version = model.record.data_version;
  result.model_revision = model.record.current_revision;
  FIDELIO_ASSIGN_OR_RETURN(const Dataset data,
                           ReadDataset(store, model.record.name, model.stored.spec, model.record.data_version, added));
  absl::StatusOr<std::unique_ptr<Emulator>> emulator = from.Condition(data, threads);
  if (absl::IsFailedPrecondition(emulator.status())) {
    return PreconditionError("NEEDS_FIT", absl::StrCat("models/", model.record.name),
                             absl::StrCat("can't be conditioned: ", emulator.status().message()),
                             "add the observations with update NONE, then fit");
  }
  FIDELIO_RETURN_IF_ERROR(emulator.status());
  result.emulator = *std::move(emulator);
  result.checkpoint = result.emulator->Save();
  result.bytes = FittedModel(*result.emulator).MemoryBytes();
  result.info = info;
  result.info.origin = RevisionOrigin::kCondition;
  result.info.data_version = model.record.data_version + (added.empty() ? 0 : 1);
  result.info.observation_counts = KnownCounts(*result.emulator, model.fidelities());
  result.info.fit_duration = absl::Now() - begin;
  return result;
}

}  // namespace fidelio
