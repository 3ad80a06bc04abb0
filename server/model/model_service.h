// ModelService: named models with their observations, fits and revisions; who may do what when.
//
// Thread-safe: every method may be called from any thread. A facade: each group of methods has its own file behind it.
//
// What it promises
//  - OK from a mutation means committed and on disk; otherwise nothing of it happened.
//  - A mutation with a request_id that was answered before gives the first answer again, also after a restart, whatever
//    has changed since. Only answers are remembered, errors are not.
//  - Fits are durable: committed before they are answered, resumed after a restart from their last checkpoint, never
//    stuck. State machine:
//
//        StartFit → PENDING → RUNNING → SUCCEEDED | FAILED | CANCELLED
//                      └──────────────→ FAILED | CANCELLED
//
//    Fits of one model run one after the other, in their order; those of different models start in the order of their
//    creation. A fit takes the observations that are committed when it begins to run. After a restart, a fit that was
//    RUNNING is PENDING until a worker takes it up again, before all others.
//  - AcquireRevision neither waits for a fit nor for a writer when the revision is in memory.
//  - A model whose bytes fail a checksum is quarantined: GetModel, ListModels and DeleteModel work, RollbackModel as far as
//    the damage allows, all else is DATA_LOSS. Other models are not affected.
//
// Arguments: `model` is {model}, without "models/", ids are the numbers at the end of names; both are checked. `etag` is
// empty when the caller does not care. Everything that fidelio.v1 says about values of fields is checked here, and
// messages begin with the path of the field in the request of the RPC ("model.fidelities[1].name: …",
// "observations[0].inputs: …"): callers need check only what does not arrive here. Errors carry the details of
// server/status.
#ifndef FIDELIO_SERVER_MODEL_MODEL_SERVICE_H_
#define FIDELIO_SERVER_MODEL_MODEL_SERVICE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/model/design_types.h"
#include "server/model/fit_watch.h"
#include "server/model/loaded_revision.h"
#include "server/model/model_service_options.h"
#include "server/model/model_transfer.h"
#include "server/model/model_types.h"
#include "server/store/store.h"

namespace fidelio {

class ModelService {
 public:
  // Reads the names of all models, queues the fits that are not finished, and starts the workers. `store` outlives it.
  static absl::StatusOr<std::unique_ptr<ModelService>> Open(Store* store, ModelServiceOptions options);

  // Drains, without a deadline.
  ~ModelService();

  const ModelServiceOptions& options() const;
  static const Capabilities& Supports();

  // ---- Models ----

  absl::StatusOr<ModelInfo> CreateModel(const MutationContext& context, absl::string_view model, ModelSpec spec);
  absl::StatusOr<ModelInfo> GetModel(absl::string_view model) const;
  // Models whose name begins with `prefix` and is greater than `after`, at most `limit` (≥ 1).
  absl::StatusOr<ModelList> ListModels(absl::string_view prefix, absl::string_view after, int64_t limit) const;
  absl::StatusOr<ModelInfo> UpdateModel(const MutationContext& context, absl::string_view model, absl::string_view etag,
                                        const ModelUpdate& update);
  // Cancels the fits of the model; returns without waiting for their threads.
  absl::Status DeleteModel(const MutationContext& context, absl::string_view model, absl::string_view etag);

  // ---- Observations ----

  absl::StatusOr<AddObservationsAnswer> AddObservations(const MutationContext& context, absl::string_view model,
                                                        absl::string_view etag,
                                                        const std::vector<ObservationBatch>& observations,
                                                        AddObservationsOptions options = {});
  // The observations stay as history; no later fit, diagnosis or design uses them.
  absl::StatusOr<ChangeObservationsAnswer> WithdrawObservations(const MutationContext& context, absl::string_view model,
                                                                absl::string_view etag, const WithdrawQuery& query);
  // New outputs under the same run_ids; the old ones stay as history.
  absl::StatusOr<ChangeObservationsAnswer> CorrectObservations(const MutationContext& context, absl::string_view model,
                                                               absl::string_view etag, const Correction& correction);
  absl::StatusOr<ObservationList> ListObservations(absl::string_view model, const ObservationListQuery& query) const;

  // ---- Fits ----

  // With validate_only, everything is checked, nothing happens, and the answer has id 0.
  absl::StatusOr<FitInfo> StartFit(const MutationContext& context, absl::string_view model, absl::string_view etag,
                                   const FitSpec& options, bool validate_only = false);
  absl::StatusOr<FitInfo> GetFit(absl::string_view model, int64_t fit) const;
  // Fits with an id less than `before` (0: all), the newest first, at most `limit` (≥ 1).
  absl::StatusOr<FitList> ListFits(absl::string_view model, int64_t before, int64_t limit) const;
  // The fit is CANCELLED at once and for good; the work on it stops within one iteration. One that has ended stays as it
  // is.
  absl::StatusOr<FitInfo> CancelFit(const MutationContext& context, absl::string_view model, int64_t fit);
  // Destroy the watch to end it early; the service keeps no hold on it.
  absl::StatusOr<std::shared_ptr<FitWatch>> WatchFit(absl::string_view model, int64_t fit,
                                                     std::function<void()> on_ready = {}) const;

  // ---- Predictions ----

  // `revision` 0: the current one. FAILED_PRECONDITION before the first fit, or when the revision knows less than
  // `min_data_version`. Loads the revision if need be, once for all that wait for it; DEADLINE_EXCEEDED when `deadline`
  // passes meanwhile (the load goes on for the others).
  absl::StatusOr<std::shared_ptr<const LoadedRevision>> AcquireRevision(
      absl::string_view model, int64_t revision = 0, int64_t min_data_version = 0,
      absl::Time deadline = absl::InfiniteFuture()) const;

  // What AcquireRevision would find in memory; null when there is no such model or it would have to load the revision.
  std::shared_ptr<const LoadedRevision> FindInMemory(absl::string_view model, int64_t revision = 0) const;

  // ---- Designs ----

  // By a revision that AcquireRevision gave. `check` is asked between the phases of the work, which ends with its error.
  // ABORTED when the model was deleted and made again since, with another shape. k beyond the rank of the kernel is
  // INVALID_ARGUMENT.
  using Check = absl::FunctionRef<absl::Status()>;
  absl::StatusOr<Design> SampleDpp(const LoadedRevision& revision, const DppQuery& query, Check check) const;
  absl::StatusOr<SuggestedRuns> Suggest(const LoadedRevision& revision, const SuggestQuery& query, Check check) const;
  absl::StatusOr<ModelDiagnosis> Diagnose(const LoadedRevision& revision, Check check) const;

  // Inputs for first runs, beside those that were observed: needs no revision. FAILED_PRECONDITION without a box and without
  // a range of observed inputs.
  absl::StatusOr<InitialRuns> InitialDesign(absl::string_view model, const InitialDesignQuery& query,
                                            Check check) const;

  // ---- Revisions ----

  absl::StatusOr<RevisionInfo> GetRevision(absl::string_view model, int64_t revision) const;
  // Revisions with an id less than `before` (0: all), the newest first, at most `limit` (≥ 1).
  absl::StatusOr<RevisionList> ListRevisions(absl::string_view model, int64_t before, int64_t limit) const;
  // Also notes in the model's unfinished fits that their revisions are made, but do not become current.
  absl::StatusOr<ModelInfo> RollbackModel(const MutationContext& context, absl::string_view model,
                                          absl::string_view etag, int64_t revision);
  // FAILED_PRECONDITION for the current one. Its number is not used again; whoever predicts by it already goes on.
  absl::Status DeleteRevision(const MutationContext& context, absl::string_view model, absl::string_view etag,
                              int64_t revision);

  // ---- Files ----

  absl::StatusOr<std::unique_ptr<ModelExport>> ExportModel(absl::string_view model, bool all_revisions) const;
  // `model` empty: the name that the file has. `context.body` is the header: the bytes of the file join it by themselves.
  // The context's body need not outlive this call. The service outlives the import.
  absl::StatusOr<std::unique_ptr<ModelImport>> ImportModel(const MutationContext& context, absl::string_view model);

  // ---- The end ----

  // Stops taking mutations (UNAVAILABLE), checkpoints the running fits, joins the workers and ends all watches. Reads and
  // predictions go on. DEADLINE_EXCEEDED when workers are still at work at `deadline`: the checkpoints on disk are then up
  // to checkpoint_interval old, and the destructor waits for the workers. May be called again.
  absl::Status Drain(absl::Time deadline);

 private:
  class Impl;
  class Import;
  explicit ModelService(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_MODEL_SERVICE_H_
