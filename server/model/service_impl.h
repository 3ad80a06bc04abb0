// ModelService::Impl: the parts of the service, put together. Its methods are in model_service_*.cc, by group.
#ifndef FIDELIO_SERVER_MODEL_SERVICE_IMPL_H_
#define FIDELIO_SERVER_MODEL_SERVICE_IMPL_H_

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "server/model/conditioned_revision.h"
#include "server/model/fit_runner.h"
#include "server/model/fit_scheduler.h"
#include "server/model/model_service.h"
#include "server/model/observation_index.h"
#include "server/model/service_context.h"

namespace fidelio {

// InfoOf, with what the store knows of the current revision. A revision that can't be read counts as one that knows no
// withdrawn observations: whoever uses it learns of the damage.
ModelInfo InfoOf(const StoreReader& store, const IndexedModel& model);

class ModelService::Impl {
 public:
  Impl(Store* store, ModelServiceOptions options)
      : context(store, std::move(options)), scheduler(context.options().metrics), runner(&context, &scheduler) {}

  // Reads the models and queues the unfinished fits.
  absl::Status Load();

  // OK when the quota and the server allow one more model of the caller.
  absl::Status CheckModels(const Caller& caller);
  // OK when the quotas of the caller and of the model's owner, the server and the model allow this many more
  // observations. A model that does not exist yet will be the caller's.
  absl::Status CheckObservations(const Caller& caller, absl::string_view model, int64_t present, int64_t added);

  // The revision that is served, given `blocks` too; absent unless the update is CONDITION.
  absl::StatusOr<std::optional<ConditionedRevision>> Condition(const ModelService& service, absl::string_view model,
                                                               const std::vector<ObservationBlock>& blocks,
                                                               ObservationUpdate update);

  // Commits `change` of the observations of `model`, found by locate(model): a new version that withdraws and adds rows.
  struct ObservationChange {
    WithdrawnRows withdrawn = {};
    std::vector<ObservationBlock> added = {};
  };
  absl::StatusOr<ChangeObservationsAnswer> Change(
      const MutationContext& context, const MutationName& name, absl::string_view etag,
      absl::FunctionRef<absl::StatusOr<ObservationChange>(const IndexedModel&)> locate);

  // As ServiceContext::Explain for an error of what was read of `model` by its name; ABORTED when another model has that name
  // by now: its bytes are no damage of this one's.
  absl::Status ExplainFor(const IndexedModel& model, const absl::Status& status);

  // Takes the observations that are no longer in use out of leave-one-out predictions of a revision and out of its data;
  // returns how many there are.
  absl::StatusOr<int64_t> LeaveOutWithdrawn(const LoadedRevision& revision, std::vector<LeaveOneOut>& left_out,
                                            Dataset& data);

  ServiceContext context;
  ObservationIndex observations;
  FitScheduler scheduler;
  FitRunner runner;

 private:
  absl::Status LoadFits();
};

// Counts observations that `caller` adds to a model with this spec, if it is another's.
void CountContribution(const Caller& caller, int64_t added, StoredSpec& stored);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_SERVICE_IMPL_H_
