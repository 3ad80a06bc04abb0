#include "server/model/fit_runner.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/status_macros.h"
#include "server/model/core_models.h"
#include "server/model/fit_history.h"
#include "server/model/method_choice.h"
#include "server/model/retention.h"
#include "server/model/validate.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

constexpr absl::Duration kFullDiskDelay = absl::Seconds(1);

// A fit that brings the server down again and again before it can save its state ends with ABORTED.
constexpr int64_t kMaxIdleResumes = 100;

// To condition a fit's revision on the news while others change the model.
constexpr int kConditionAttempts = 8;

// The time to go at the speed so far, at most what the budget leaves. Nothing while it is too early to say.
std::optional<absl::Duration> Eta(const FitProgress& progress, const FitSpec& spec) {
  constexpr double kEnough = 0.01;
  std::optional<double> seconds;
  const auto at_most = [&](double s) { seconds = std::max(0.0, std::min(s, seconds.value_or(s))); };
  if (progress.fraction > kEnough) at_most(progress.seconds * (1 - progress.fraction) / progress.fraction);
  if (spec.budget_seconds) at_most(*spec.budget_seconds - progress.seconds);
  if (spec.budget_iterations && progress.iteration > 0) {
    at_most(progress.seconds * static_cast<double>(*spec.budget_iterations - progress.iteration) /
            static_cast<double>(progress.iteration));
  }
  if (!seconds) return std::nullopt;
  return absl::Seconds(*seconds);
}

void Advance(const FitProgress& progress, FitInfo& info) {
  JobProgress& p = info.progress;
  p.phase = progress.phase;
  p.iteration = progress.iteration;
  p.evaluations = progress.evaluations;
  p.fraction = std::max(p.fraction, std::clamp(progress.fraction, 0.0, 1.0));
  p.elapsed = absl::Seconds(progress.seconds);
  if (std::isfinite(progress.log_posterior)) {
    p.elbo = progress.log_posterior;
    AddToHistory({.phase = p.phase, .iteration = p.iteration, .elbo = *p.elbo, .elapsed = p.elapsed}, info.history);
  }
  p.eta = Eta(progress, info.options);
}

}  // namespace

// Publishes progress, saves the state when it is due, and stops the work when the fit has ended or the service drains.
// Core calls it from one thread at a time.
class FitRunner::Observer final : public FitObserver {
 public:
  Observer(FitRunner* runner, FitJob* job, const EmulatorFit* fit)
      : runner_(*runner), job_(*job), fit_(*fit), saved_(absl::Now()), last_(saved_) {}

  bool OnProgress(const FitProgress& progress) override {
    job_.Update([&](FitInfo& info) { Advance(progress, info); });
    const absl::Time now = absl::Now();
    const ModelServiceOptions& options = runner_.context_.options();
    // Due when the next iteration would come too late.
    if (now - saved_ + (now - last_) >= options.checkpoint_interval && !job_.ended()) {
      // On a full disk the work goes on, with the state that is saved already.
      runner_.SaveState(job_, fit_).IgnoreError();
      saved_ = absl::Now();
    }
    last_ = absl::Now();
    if (options.hooks.on_iteration) options.hooks.on_iteration(job_.model(), job_.id(), progress);
    return !job_.ended() && !runner_.context_.draining();
  }

 private:
  FitRunner& runner_;
  FitJob& job_;
  const EmulatorFit& fit_;
  absl::Time saved_;
  absl::Time last_;
};

void FitRunner::Run(FitJob& job) {
  const absl::Status status = Fit(job);
  const bool stays = job.ended() || context_.draining() || absl::IsUnavailable(status);
  if (!status.ok() && !stays) Fail(job, context_.Explain(status, job.model()));
}

absl::Status FitRunner::Fit(FitJob& job) {
  FIDELIO_RETURN_IF_ERROR(CheckKnown(job));
  FIDELIO_ASSIGN_OR_RETURN(const FitRecord record, Begin(job));
  FIDELIO_ASSIGN_OR_RETURN(const IndexedModelPtr model, context_.Find(job.model()));
  FIDELIO_ASSIGN_OR_RETURN(const FitData data,
                           ReadFitData(context_.store(), job.model(), model->stored.spec, record.data_version));
  FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<EmulatorFit> fit,
                           Prepare(job, record, model->stored.spec.kind, data.data));
  Observer observer(this, &job, fit.get());
  absl::StatusOr<std::unique_ptr<MixtureEmulator>> fitted = fit->Run(&observer);
  if (absl::IsCancelled(fitted.status())) {
    return job.ended() ? absl::OkStatus() : SaveState(job, *fit);
  }
  FIDELIO_RETURN_IF_ERROR(fitted.status());
  return Succeed(job, *model, MakeEmulator(data.transform, *std::move(fitted)));
}

absl::Status FitRunner::Commit(const FitJob& job, absl::FunctionRef<absl::Status(StoreTransaction&)> body,
                               absl::FunctionRef<void()> applied) {
  return context_.Commit(
      [&](StoreTransaction& transaction) {
        // A fit ends under the lock that Commit holds: from here on it is as this says.
        return job.ended() ? absl::CancelledError("the fit has ended") : body(transaction);
      },
      applied);
}

absl::Status FitRunner::CommitPatiently(const FitJob& job, absl::FunctionRef<absl::Status(StoreTransaction&)> body,
                                        absl::FunctionRef<void()> applied) {
  while (true) {
    const absl::Status status = Commit(job, body, applied);
    if (!absl::IsResourceExhausted(status) || context_.draining() || job.ended()) return status;
    scheduler_.Sleep(job, absl::Now() + kFullDiskDelay);
  }
}

absl::Status FitRunner::CheckKnown(const FitJob& job) const {
  FIDELIO_ASSIGN_OR_RETURN(const IndexedModelPtr model, context_.Find(job.model()));
  FIDELIO_RETURN_IF_ERROR(fidelio::CheckKnown(job.model(), model->stored.spec));
  const FitInfo info = job.Get();
  FIDELIO_RETURN_IF_ERROR(ValidateFitSpec(info.options));
  const Inference inference = info.inference.value_or(info.options.inference);
  if (inference == Inference::kAuto) return absl::OkStatus();
  FIDELIO_ASSIGN_OR_RETURN(const MethodChoice choice, ChooseMethod(model->stored.spec.kind, inference, {}));
  return ValidateMethodOptions(info.options, choice);
}

absl::StatusOr<FitRecord> FitRunner::Begin(FitJob& job) {
  FitInfo info = job.Get();
  FitRecord record;
  bool tired = false;
  FIDELIO_RETURN_IF_ERROR(CommitPatiently(
      job,
      [&](StoreTransaction& transaction) -> absl::Status {
        FIDELIO_ASSIGN_OR_RETURN(const FitRecord before, transaction.GetFit(job.model(), job.id()));
        FIDELIO_ASSIGN_OR_RETURN(StoredProgress progress, Decode<StoredProgress>(before.progress));
        FitChange change;
        if (before.state == FitState::kPending) {
          FIDELIO_ASSIGN_OR_RETURN(const ModelRecord model, transaction.GetModel(job.model()));
          FIDELIO_ASSIGN_OR_RETURN(const IndexedModelPtr known, context_.Find(job.model()));
          FIDELIO_ASSIGN_OR_RETURN(const MethodChoice choice,
                                   ChooseMethod(known->stored.spec.kind, info.options.inference, known->counts()));
          // AUTO may choose another method than when the fit was queued.
          if (absl::Status allowed = ValidateMethodOptions(info.options, choice); !allowed.ok()) return allowed;
          progress.inference = choice.inference;
          progress.inference_reason = choice.reason;
          change.state = FitState::kRunning;
          change.data_version = model.data_version;
        } else {
          ++progress.resume_count;
          tired = ++progress.idle_resumes > kMaxIdleResumes;
        }
        change.progress = Encode(progress);
        FIDELIO_ASSIGN_OR_RETURN(record, transaction.UpdateFit(job.model(), job.id(), change));
        FIDELIO_ASSIGN_OR_RETURN(info, InfoOf(job.model(), record));
        return absl::OkStatus();
      },
      [&] { job.Update([&](FitInfo& known) { known = info; }); }));
  if (tired) {
    return absl::AbortedError(absl::StrCat("the server has stopped ", kMaxIdleResumes,
                                           " times in a row before it could save the state of this fit"));
  }
  return record;
}

absl::StatusOr<std::unique_ptr<EmulatorFit>> FitRunner::Prepare(const FitJob& job, const FitRecord& record,
                                                                ModelKind kind, const Dataset& data) {
  const FitInfo info = job.Get();
  // What was chosen when the fit began: the observations since are not its own.
  FIDELIO_ASSIGN_OR_RETURN(const MethodChoice choice,
                           ChooseMethod(kind, info.inference.value_or(info.options.inference), {}));
  if (record.has_saved_state) {
    FIDELIO_ASSIGN_OR_RETURN(const std::string state, context_.store().ReadFitState(job.model(), job.id()));
    absl::StatusOr<std::unique_ptr<EmulatorFit>> fit =
        choice.method->resume(state, data, context_.options().fit_threads);
    if (fit.ok()) return fit;
    // Another version's, or damaged before it was stored: the observations are still there.
  }
  return Start(job, info.options, choice, data);
}

absl::StatusOr<std::unique_ptr<EmulatorFit>> FitRunner::Start(const FitJob& job, const FitSpec& asked,
                                                              const MethodChoice& choice, const Dataset& data) {
  const EmulatorMethod& method = *choice.method;
  FitOptions options = CoreFitOptions(asked, choice, context_.options().fit_threads);
  std::unique_ptr<Emulator> warm;
  FIDELIO_ASSIGN_OR_RETURN(const ModelRecord model, context_.store().GetModel(job.model()));
  if (asked.warm_start && model.current_revision > 0) {
    FIDELIO_ASSIGN_OR_RETURN(const std::string checkpoint,
                             context_.store().ReadCheckpoint(job.model(), model.current_revision));
    absl::StatusOr<std::unique_ptr<Emulator>> loaded = LoadEmulator(checkpoint);
    // A model of another method can't start this fit.
    if (!absl::IsInvalidArgument(loaded.status())) {
      FIDELIO_ASSIGN_OR_RETURN(warm, std::move(loaded));
      const MixtureEmulator& fitted = FittedModel(*warm);
      if (fitted.checkpoint_kind() == method.checkpoint_kind) options.warm_start = &fitted;
    }
  }
  return method.create(data, options);
}

absl::Status FitRunner::SaveState(FitJob& job, const EmulatorFit& fit) {
  const std::string state = fit.SaveState();
  FIDELIO_RETURN_IF_ERROR(Commit(
      job,
      [&](StoreTransaction& transaction) {
        // Only here, under the lock of writers: a rollback may have marked the fit just before.
        const std::string progress = Encode(ProgressOf(job.Get()));
        return transaction.UpdateFit(job.model(), job.id(), {.progress = progress, .saved_state = state}).status();
      },
      [] {}));
  const auto& hook = context_.options().hooks.on_checkpoint;
  if (hook) hook(job.model(), job.id());
  return absl::OkStatus();
}

std::optional<ConditionedRevision> FitRunner::ConditionOnNews(const IndexedModel& model, const Emulator& emulator,
                                                              const RevisionInfo& revision) const {
  if (model.record.current_revision == 0) return std::nullopt;
  const absl::StatusOr<RevisionRecord> record =
      context_.store().GetRevision(model.record.name, model.record.current_revision);
  if (!record.ok()) return std::nullopt;
  const absl::StatusOr<RevisionInfo> current = Decode<RevisionInfo>(record->metadata);
  if (!current.ok() || current->origin != RevisionOrigin::kCondition ||
      current->data_version <= revision.data_version) {
    return std::nullopt;
  }
  absl::StatusOr<ConditionedRevision> more =
      ConditionRevision(context_.store(), model, emulator, revision, {}, context_.options().fit_threads);
  if (!more.ok()) return std::nullopt;  // the fit's revision is good without
  return *std::move(more);
}

absl::Status FitRunner::Succeed(FitJob& job, const IndexedModel& model, std::unique_ptr<Emulator> emulator) {
  FitReport report = FittedModel(*emulator).report();
  if (context_.options().hooks.on_report) context_.options().hooks.on_report(report);
  FitInfo info = job.Get();
  info.report = report;
  info.progress.phase = "finish";
  info.progress.fraction = 1;
  info.progress.eta = absl::ZeroDuration();
  info.progress.elbo = report.log_posterior;

  RevisionInfo revision;
  revision.model = job.model();
  revision.fit = job.id();
  revision.data_version = info.data_version;
  revision.kind = model.stored.spec.kind;
  revision.options = info.options;
  revision.inference = info.inference.value_or(Inference::kMoments);
  revision.inference_reason = info.inference_reason;
  revision.elbo = report.log_posterior;
  revision.evaluations = report.evaluations;
  revision.fit_duration = absl::Seconds(report.seconds);
  revision.report = report;
  revision.code_version = context_.options().code_version;
  revision.observation_counts = KnownCounts(*emulator, model.fidelities());

  const std::string checkpoint = emulator->Save();
  const std::string metadata = Encode(revision);
  const int64_t bytes = FittedModel(*emulator).MemoryBytes();
  const auto loaded = [&](const RevisionInfo& of, std::unique_ptr<Emulator> by, int64_t size) {
    context_.cache().Insert({job.uid(), of.id},
                            std::make_shared<LoadedRevision>(of, model.fidelities(), std::move(by), size));
  };
  absl::Status status;
  bool outdated = true;
  for (int attempt = 1; outdated; ++attempt) {
    outdated = false;
    FIDELIO_ASSIGN_OR_RETURN(const IndexedModelPtr known, context_.Find(job.model()));
    info.not_served = job.Get().not_served;
    std::optional<ConditionedRevision> more;
    if (!info.not_served) more = ConditionOnNews(*known, *emulator, revision);
    ModelRecord changed;
    FitRecord ended;
    std::vector<int64_t> dropped;
    status = CommitPatiently(
        job,
        [&](StoreTransaction& transaction) -> absl::Status {
          FIDELIO_ASSIGN_OR_RETURN(const ModelRecord now, transaction.GetModel(job.model()));
          info.not_served = job.Get().not_served;  // as RollbackModel left it, under the same lock
          outdated = !info.not_served && attempt < kConditionAttempts &&
                     (now.current_revision != known->record.current_revision || (more && !more->UpToDate(now)));
          if (outdated) return absl::AbortedError("the model has changed meanwhile");
          FIDELIO_ASSIGN_OR_RETURN(const RevisionRecord added,
                                   transaction.AddRevision(job.model(), metadata, checkpoint));
          revision.id = added.id;
          FIDELIO_ASSIGN_OR_RETURN(
              ended, transaction.UpdateFit(
                         job.model(), job.id(),
                         {.state = FitState::kSucceeded, .progress = Encode(ProgressOf(info)), .revision = added.id}));
          if (info.not_served) more.reset();
          int64_t current = added.id;
          if (more) {
            FIDELIO_ASSIGN_OR_RETURN(const RevisionRecord second,
                                     transaction.AddRevision(job.model(), Encode(more->info), more->checkpoint));
            current = more->info.id = second.id;
          }
          if (!info.not_served) {
            FIDELIO_RETURN_IF_ERROR(transaction.SetCurrentRevision(job.model(), 0, current).status());
          }
          const int64_t keep = RevisionsToKeep(known->stored.spec.keep_revisions, context_.options().keep_revisions);
          FIDELIO_ASSIGN_OR_RETURN(dropped, DeleteOldRevisions(transaction, job.model(), keep, added.id));
          FIDELIO_ASSIGN_OR_RETURN(changed, transaction.GetModel(job.model()));
          return absl::OkStatus();
        },
        [&] {
          // First into the cache, so that nobody loads what is in memory already.
          loaded(revision, std::move(emulator), bytes);
          if (more) loaded(more->info, std::move(more->emulator), more->bytes);
          for (const int64_t id : dropped) context_.cache().Erase({job.uid(), id});
          context_.index().Put(changed);
          job.Update([&](FitInfo& of) {
            of.state = FitState::kSucceeded;
            of.progress = info.progress;
            of.revision = revision.id;
            of.not_served = info.not_served;
            of.report = info.report;
            of.finished = ended.finished;
          });
        });
  }
  if (status.ok() && context_.options().metrics != nullptr) {
    context_.options().metrics->RecordFit(Metrics::FitState::kSucceeded, absl::ToDoubleSeconds(revision.fit_duration));
  }
  return status;
}

void FitRunner::Fail(FitJob& job, const absl::Status& error) {
  const std::string bytes = Encode(error);
  absl::Time finished = absl::Now();
  const auto end = [&] {
    job.Update([&](FitInfo& known) {
      known.state = FitState::kFailed;
      known.error = error;
      known.finished = finished;
    });
  };
  const absl::Status status = CommitPatiently(
      job,
      [&](StoreTransaction& transaction) -> absl::Status {
        FIDELIO_ASSIGN_OR_RETURN(
            const FitRecord ended,
            transaction.UpdateFit(
                job.model(), job.id(),
                {.state = FitState::kFailed, .progress = Encode(ProgressOf(job.Get())), .error = bytes}));
        finished = ended.finished;
        return absl::OkStatus();
      },
      end);
  // A quarantined model takes no writes, and its fits are not taken up again: this one ends here, too.
  if (!status.ok() && !context_.draining()) context_.WithoutWriters(end);
  if (context_.options().metrics != nullptr) {
    context_.options().metrics->RecordFit(Metrics::FitState::kFailed,
                                          absl::ToDoubleSeconds(job.Get().progress.elapsed));
  }
}

}  // namespace fidelio
