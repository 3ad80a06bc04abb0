// ConditionedRevision: a revision given more observations, its hyperparameters kept, before it is committed. AddObservations
// makes one with update CONDITION; a fit does when it ends and such a revision, made meanwhile, knows more than it.
//
// A free function without state: safe from every thread. Takes milliseconds for hundreds of observations.
#ifndef FIDELIO_SERVER_MODEL_CONDITIONED_REVISION_H_
#define FIDELIO_SERVER_MODEL_CONDITIONED_REVISION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/emulator/emulator.h"
#include "server/model/model_index.h"
#include "server/model/model_types.h"
#include "server/store/store.h"

namespace fidelio {

struct ConditionedRevision {
  // Of the model when it was made. When they have changed since, it is out of date.
  int64_t model_data_version = 0;
  int64_t model_revision = 0;

  bool UpToDate(const ModelRecord& model) const {
    return model.data_version == model_data_version && model.current_revision == model_revision;
  }

  RevisionInfo info = {};  // without id; data_version as it will be
  std::unique_ptr<Emulator> emulator = {};
  std::string checkpoint = {};
  int64_t bytes = 0;  // of memory, an estimate
};

// `from`, which `info` describes, given all observations of `model` and those that are not in the store yet, `added`.
absl::StatusOr<ConditionedRevision> ConditionRevision(const Store& store, const IndexedModel& model,
                                                      const Emulator& from, const RevisionInfo& info,
                                                      const std::vector<ObservationBlock>& added, int threads);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_CONDITIONED_REVISION_H_
