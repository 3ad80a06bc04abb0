// FitRunner: takes one fit from the queue to its end.
//
//   begin     commit RUNNING with the snapshot's data_version (or that the fit goes on, after a restart)
//   prepare   continue from the saved state; from the observations when there is none, or it can't be used
//   work      in core; at every iteration publish progress, and commit the state when it is due
//   finish    commit the revision, the fit's SUCCEEDED and the model's current revision (unless the model was rolled back
//             since the fit was asked for) as one transaction, which also deletes revisions beyond keep_revisions
//
// Thread-safe: Run may work on several jobs at once. A fit that ended while it was worked on (cancelled, deleted) writes
// nothing any more. When the service drains, the state is committed and the fit stays as it is, for the next start.
#ifndef FIDELIO_SERVER_MODEL_FIT_RUNNER_H_
#define FIDELIO_SERVER_MODEL_FIT_RUNNER_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/emulator/emulator_fit.h"
#include "core/registry/emulator_registry.h"
#include "server/model/conditioned_revision.h"
#include "server/model/fit_info.h"
#include "server/model/fit_job.h"
#include "server/model/fit_scheduler.h"
#include "server/model/method_choice.h"
#include "server/model/service_context.h"

namespace fidelio {

class FitRunner {
 public:
  // Both outlive it.
  FitRunner(ServiceContext* context, FitScheduler* scheduler) : context_(*context), scheduler_(*scheduler) {}

  void Run(FitJob& job);

 private:
  class Observer;

  absl::Status Fit(FitJob& job);
  // Whether this program has all that the fit asks for: another one may have queued it.
  absl::Status CheckKnown(const FitJob& job) const;
  absl::StatusOr<FitRecord> Begin(FitJob& job);
  absl::StatusOr<std::unique_ptr<EmulatorFit>> Prepare(const FitJob& job, const FitRecord& record, ModelKind kind,
                                                       const Dataset& data);
  absl::StatusOr<std::unique_ptr<EmulatorFit>> Start(const FitJob& job, const FitSpec& asked,
                                                     const MethodChoice& choice, const Dataset& data);
  absl::Status SaveState(FitJob& job, const EmulatorFit& fit);
  absl::Status Succeed(FitJob& job, const IndexedModel& model, std::unique_ptr<Emulator> emulator);
  // A fit's revision given the observations that came while it ran, if the one that the model serves knows them already (by
  // update CONDITION): so that nothing that was served is forgotten.
  std::optional<ConditionedRevision> ConditionOnNews(const IndexedModel& model, const Emulator& emulator,
                                                     const RevisionInfo& revision) const;
  void Fail(FitJob& job, const absl::Status& error);

  // Commits for a job; CANCELLED when it has ended meanwhile.
  absl::Status Commit(const FitJob& job, absl::FunctionRef<absl::Status(StoreTransaction&)> body,
                      absl::FunctionRef<void()> applied);
  // As Commit, and tries again for as long as the disk is full.
  absl::Status CommitPatiently(const FitJob& job, absl::FunctionRef<absl::Status(StoreTransaction&)> body,
                               absl::FunctionRef<void()> applied);

  ServiceContext& context_;
  FitScheduler& scheduler_;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_FIT_RUNNER_H_
