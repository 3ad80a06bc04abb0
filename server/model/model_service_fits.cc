// ModelService: fits.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/model/core_models.h"
#include "server/model/method_choice.h"
#include "server/model/model_service.h"
#include "server/model/service_impl.h"
#include "server/model/validate.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

constexpr absl::Duration kQueueDelay = absl::Seconds(30);

absl::Status FitNotFound(absl::string_view model, int64_t fit) {
  return ResourceNotFoundError("fit", absl::StrCat("models/", model, "/fits/", fit));
}

// What the store says of a fit is NOT_FOUND for its model, or for itself.
absl::Status AboutFit(const absl::Status& status, absl::string_view model, int64_t fit) {
  return absl::IsNotFound(status) ? FitNotFound(model, fit) : status;
}

}  // namespace

absl::StatusOr<FitInfo> ModelService::StartFit(const MutationContext& context, absl::string_view model,
                                               absl::string_view etag, const FitSpec& options, bool validate_only) {
  FIDELIO_RETURN_IF_ERROR(ValidateFitSpec(options));
  Impl& impl = *impl_;
  IndexedModelPtr found;
  const Caller& caller = context.caller;
  const auto check = [&]() -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(found, impl.context.Find(model));
    const ModelSpec& spec = found->stored.spec;
    const ModelServiceOptions& limits = impl.context.options();
    FIDELIO_RETURN_IF_ERROR(CheckEtag(etag, found->record));
    FIDELIO_RETURN_IF_ERROR(CheckKnown(model, spec));
    FIDELIO_ASSIGN_OR_RETURN(const MethodChoice choice, ChooseMethod(spec.kind, options.inference, found->counts()));
    FIDELIO_RETURN_IF_ERROR(ValidateMethodOptions(options, choice));
    FIDELIO_RETURN_IF_ERROR(CheckDataForFit(model, spec, found->counts()));
    FIDELIO_RETURN_IF_ERROR(
        CheckMemoryForFit(model, spec, found->counts(), choice, options, limits.fit_threads, limits.max_fit_bytes));
    const int64_t mine = impl.scheduler.CountOf(caller.name);
    if (caller.quotas.max_concurrent_fits && mine >= *caller.quotas.max_concurrent_fits) {
      return QuotaExceededError(
          absl::StrCat("token:", caller.name),
          absl::StrCat(mine, " fits that have not ended, and ", *caller.quotas.max_concurrent_fits, " are allowed"));
    }
    const int64_t queued = impl.scheduler.queued();
    if (queued < limits.fit_queue) return absl::OkStatus();
    return ExhaustedError(absl::StrCat("the queue is full: ", queued, " fits are waiting, and ", limits.fit_queue,
                                       " are allowed; try again when some have finished"),
                          kQueueDelay);
  };
  if (validate_only) {
    FIDELIO_RETURN_IF_ERROR(ValidateRequestId(context.request_id));
    if (impl.context.draining()) return DrainingError(absl::Seconds(1));
    FIDELIO_RETURN_IF_ERROR(check());
    FitInfo info;
    info.model = std::string(model);
    info.options = options;
    info.queue_position = impl.scheduler.queued();
    return info;
  }
  return impl.context.Mutate<FitInfo>(
      context, {"Fit", model},
      [&](StoreTransaction& transaction) -> absl::StatusOr<FitInfo> {
        FIDELIO_RETURN_IF_ERROR(check());
        FIDELIO_ASSIGN_OR_RETURN(const FitRecord record,
                                 transaction.CreateFit(model, Encode(StoredFit{options, caller.name})));
        FIDELIO_ASSIGN_OR_RETURN(FitInfo info, InfoOf(model, record));
        info.queue_position = impl.scheduler.queued();
        return info;
      },
      [&](const FitInfo& info) { impl.scheduler.Add(std::make_shared<FitJob>(found->uid, caller.name, info)); });
}

absl::StatusOr<FitInfo> ModelService::GetFit(absl::string_view model, int64_t fit) const {
  FIDELIO_RETURN_IF_ERROR(impl_->context.Find(model).status());
  if (const auto job = impl_->scheduler.Find(model, fit); job != nullptr) return job->Get();
  const absl::StatusOr<FitRecord> record = impl_->context.store().GetFit(model, fit);
  if (!record.ok()) return impl_->context.Explain(AboutFit(record.status(), model, fit), model);
  absl::StatusOr<FitInfo> info = InfoOf(model, *record);
  return info.ok() ? info : impl_->context.Explain(info.status(), model);
}

absl::StatusOr<FitList> ModelService::ListFits(absl::string_view model, int64_t before, int64_t limit) const {
  if (limit < 1) return absl::InvalidArgumentError(absl::StrCat("page_size: ", limit, ", want at least 1"));
  FIDELIO_RETURN_IF_ERROR(impl_->context.Find(model).status());
  const absl::StatusOr<ModelRecord> record = impl_->context.store().GetModel(model);
  if (!record.ok()) return impl_->context.Explain(record.status(), model);
  // Ids are 1 … fits: the page is (last − limit, last], which the store gives the other way round.
  const int64_t last = before > 0 ? std::min(before - 1, record->fits) : record->fits;
  const int64_t first = std::max<int64_t>(0, last - limit);
  FitList list;
  if (last <= first) return list;
  const absl::StatusOr<FitPage> page = impl_->context.store().ListFits(model, first, static_cast<int>(last - first));
  if (!page.ok()) return impl_->context.Explain(page.status(), model);
  for (auto fit = page->fits.rbegin(); fit != page->fits.rend(); ++fit) {
    if (const auto job = impl_->scheduler.Find(model, fit->id); job != nullptr) {
      list.fits.push_back(job->Get());
      continue;
    }
    absl::StatusOr<FitInfo> info = InfoOf(model, *fit);
    if (!info.ok()) return impl_->context.Explain(info.status(), model);
    list.fits.push_back(*std::move(info));
  }
  list.next = first > 0 ? first + 1 : 0;
  return list;
}

absl::StatusOr<FitInfo> ModelService::CancelFit(const MutationContext& context, absl::string_view model, int64_t fit) {
  Impl& impl = *impl_;
  std::shared_ptr<FitJob> job;
  absl::StatusOr<FitInfo> answer = impl.context.Mutate<FitInfo>(
      context, {"CancelFit", model},
      [&](StoreTransaction& transaction) -> absl::StatusOr<FitInfo> {
        FIDELIO_RETURN_IF_ERROR(impl.context.Find(model).status());
        absl::StatusOr<FitRecord> record = transaction.GetFit(model, fit);
        if (!record.ok()) return AboutFit(record.status(), model, fit);
        if (!IsFinished(record->state)) {
          // For good, also if the server stops now: the work on it sees it at its next iteration.
          job = impl.scheduler.Find(model, fit);
          FitChange change{.state = FitState::kCancelled};
          if (job != nullptr) change.progress = Encode(ProgressOf(job->Get()));
          FIDELIO_ASSIGN_OR_RETURN(record, transaction.UpdateFit(model, fit, change));
        }
        return InfoOf(model, *record);
      },
      [&](const FitInfo& info) {
        if (job == nullptr) return;
        job->Update([&](FitInfo& known) { known = info; });
        impl.scheduler.Remove(*job);
      });
  if (answer.ok() && job != nullptr && impl.context.options().metrics != nullptr) {
    impl.context.options().metrics->RecordFit(Metrics::FitState::kCancelled,
                                              absl::ToDoubleSeconds(answer->progress.elapsed));
  }
  return answer;
}

absl::StatusOr<std::shared_ptr<FitWatch>> ModelService::WatchFit(absl::string_view model, int64_t fit,
                                                                 std::function<void()> on_ready) const {
  FIDELIO_RETURN_IF_ERROR(impl_->context.Find(model).status());
  auto watch = std::make_shared<FitWatch>(std::move(on_ready));
  std::shared_ptr<FitJob> job = impl_->scheduler.Find(model, fit);
  if (job == nullptr) {
    FIDELIO_ASSIGN_OR_RETURN(FitInfo info, GetFit(model, fit));
    if (IsFinished(info.state)) {
      watch->Offer({std::move(info), true});
      return watch;
    }
    // Committed, and perhaps on its way into the queue: that is done when no writer is at work.
    impl_->context.WithoutWriters([&] { job = impl_->scheduler.Find(model, fit); });
  }
  if (job == nullptr || impl_->context.draining()) return DrainingError(absl::Seconds(1));
  job->Watch(watch);
  return watch;
}

}  // namespace fidelio
