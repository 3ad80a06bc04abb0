#include "server/model/model_service.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/registry/emulator_registry.h"
#include "server/model/service_impl.h"
#include "server/model/validate.h"
#include "server/status/errors.h"

namespace fidelio {

absl::Status ModelService::Impl::Load() {
  constexpr int kPage = 1000;
  std::string after;
  do {
    FIDELIO_ASSIGN_OR_RETURN(ModelPage page, context.store().ListModels("", after, kPage));
    for (const ModelRecord& record : page.models) context.index().Put(record);
    after = std::move(page.next);
  } while (!after.empty());
  return LoadFits();
}

absl::Status ModelService::Impl::LoadFits() {
  struct Found {
    FitRecord record;
    std::shared_ptr<FitJob> job;
  };
  std::vector<Found> fits;
  for (const UnfinishedFit& unfinished : context.store().UnfinishedFits()) {
    const IndexedModelPtr model = context.index().Find(unfinished.model);
    if (model == nullptr || !model->damage.empty()) continue;
    const absl::StatusOr<FitRecord> record = context.store().GetFit(unfinished.model, unfinished.id);
    absl::StatusOr<FitInfo> info = record.ok() ? InfoOf(unfinished.model, *record) : record.status();
    const absl::StatusOr<StoredFit> fit = record.ok() ? Decode<StoredFit>(record->options) : record.status();
    if (!info.ok() || !fit.ok()) {
      const absl::Status error = context.Explain(info.ok() ? fit.status() : info.status(), unfinished.model);
      if (!absl::IsDataLoss(error)) return error;
      continue;
    }
    info->state = FitState::kPending;
    fits.push_back({*record, std::make_shared<FitJob>(model->uid, fit->owner, *std::move(info))});
  }
  std::sort(fits.begin(), fits.end(), [](const Found& a, const Found& b) {
    const auto key = [](const Found& f) {
      return std::make_tuple(f.record.state != FitState::kRunning, f.record.created, f.job->model(), f.record.id);
    };
    return key(a) < key(b);
  });
  for (Found& fit : fits) scheduler.Add(std::move(fit.job));
  return absl::OkStatus();
}

absl::Status ModelService::Impl::ExplainFor(const IndexedModel& model, const absl::Status& status) {
  const IndexedModelPtr now = context.index().Find(model.record.name);
  if (now != nullptr && now->uid == model.uid) return context.Explain(status, model.record.name);
  return ConcurrentChangeError(absl::StrCat("models/", model.record.name),
                               "was deleted and created again during the call");
}

absl::Status ModelService::Impl::CheckModels(const Caller& caller) {
  const int64_t mine = context.index().UsageOf(caller.name).models;
  if (caller.quotas.max_models && mine >= *caller.quotas.max_models) {
    return QuotaExceededError(absl::StrCat("token:", caller.name),
                              absl::StrCat(mine, " models, and ", *caller.quotas.max_models, " are allowed"));
  }
  const int64_t all = context.index().size();
  if (all < context.options().max_models) return absl::OkStatus();
  return QuotaExceededError("server", absl::StrCat(all, " models, and ", context.options().max_models, " are allowed"));
}

absl::Status ModelService::Impl::CheckObservations(const Caller& caller, absl::string_view model, int64_t present,
                                                   int64_t added) {
  const auto check = [&](const std::string& token, const CallerQuotas& quotas) -> absl::Status {
    const ModelIndex::Usage usage = context.index().UsageOf(token);
    const int64_t counted = usage.observations + usage.contributions;
    if (!quotas.max_observations || counted + added <= *quotas.max_observations) return absl::OkStatus();
    return QuotaExceededError(
        absl::StrCat("token:", token),
        absl::StrCat(counted, " observations and ", added, " more, and ", *quotas.max_observations, " are allowed"));
  };
  FIDELIO_RETURN_IF_ERROR(check(caller.name, caller.quotas));
  const IndexedModelPtr found = context.index().Find(model);
  if (found != nullptr && found->stored.owner != caller.name && context.options().quotas_of != nullptr) {
    const std::string& owner = found->stored.owner;
    FIDELIO_RETURN_IF_ERROR(check(owner, context.options().quotas_of(owner)));
  }
  if (present + added <= context.options().max_observations) return absl::OkStatus();
  return QuotaExceededError(absl::StrCat("models/", model),
                            absl::StrCat(present, " observations and ", added, " more, and ",
                                         context.options().max_observations, " are allowed in a model"));
}

void CountContribution(const Caller& caller, int64_t added, StoredSpec& stored) {
  if (caller.name != stored.owner) stored.contributions[caller.name] += added;
}

ModelService::ModelService(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

ModelService::~ModelService() { Drain(absl::InfiniteFuture()).IgnoreError(); }

absl::StatusOr<std::unique_ptr<ModelService>> ModelService::Open(Store* store, ModelServiceOptions options) {
  FIDELIO_RETURN_IF_ERROR(CheckEmulatorMethods());
  auto impl = std::make_unique<Impl>(store, std::move(options));
  FIDELIO_RETURN_IF_ERROR(impl->Load());
  Impl* const parts = impl.get();
  parts->scheduler.Start(parts->context.options().fit_workers, [parts](FitJob& job) { parts->runner.Run(job); });
  return std::unique_ptr<ModelService>(new ModelService(std::move(impl)));
}

const ModelServiceOptions& ModelService::options() const { return impl_->context.options(); }

const Capabilities& ModelService::Supports() { return SupportedCapabilities(); }

absl::Status ModelService::Drain(absl::Time deadline) {
  impl_->scheduler.Stop();  // first: what is in the queue need not begin any more
  impl_->context.BeginDrain();
  return impl_->scheduler.Drain(deadline, DrainingError(absl::Seconds(1)));
}

}  // namespace fidelio
