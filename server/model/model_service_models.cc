// ModelService: models.
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/model/core_models.h"
#include "server/model/model_service.h"
#include "server/model/observation_history.h"
#include "server/model/service_impl.h"
#include "server/model/validate.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

ModelInfo InfoOf(const StoreReader& store, const ModelRecord& record, const StoredSpec& stored) {
  return InfoOf(store, IndexedModel{.record = record, .stored = stored});
}

}  // namespace

ModelInfo InfoOf(const StoreReader& store, const IndexedModel& model) {
  ModelInfo info = InfoOf(model);
  if (!model.damage.empty()) return info;
  const absl::StatusOr<int64_t> known = WithdrawnOfCurrentRevision(store, model.record, model.stored.withdrawn);
  if (known.ok()) info.current_revision_withdrawn_count = *known;
  return info;
}

absl::StatusOr<ModelInfo> ModelService::CreateModel(const MutationContext& context, absl::string_view model,
                                                    ModelSpec spec) {
  FIDELIO_RETURN_IF_ERROR(ValidateModelName(model, "model_id"));
  FIDELIO_RETURN_IF_ERROR(ValidateSpec(spec, options()));
  const size_t fidelities = spec.fidelities.size();
  const StoredSpec stored{std::move(spec), context.caller.name, std::vector(fidelities, LevelNoise::kNoData)};
  ModelRecord record;
  return impl_->context.Mutate<ModelInfo>(
      context, {"CreateModel", model},
      [&](StoreTransaction& transaction) -> absl::StatusOr<ModelInfo> {
        if (impl_->context.index().Find(model) != nullptr) {
          return ResourceExistsError("model", absl::StrCat("models/", model));
        }
        FIDELIO_RETURN_IF_ERROR(impl_->CheckModels(context.caller));
        FIDELIO_ASSIGN_OR_RETURN(record, transaction.CreateModel(model, Encode(stored)));
        return InfoOf(transaction, record, stored);
      },
      [&](const ModelInfo&) { impl_->context.index().Put(record); });
}

absl::StatusOr<ModelInfo> ModelService::GetModel(absl::string_view model) const {
  const IndexedModelPtr found = impl_->context.index().Find(model);
  if (found == nullptr) return ResourceNotFoundError("model", absl::StrCat("models/", model));
  return InfoOf(impl_->context.store(), *found);
}

absl::StatusOr<ModelList> ModelService::ListModels(absl::string_view prefix, absl::string_view after,
                                                   int64_t limit) const {
  if (limit < 1) return absl::InvalidArgumentError(absl::StrCat("page_size: ", limit, ", want at least 1"));
  // One more than wanted tells whether there is a next page.
  std::vector<IndexedModelPtr> found = impl_->context.index().List(prefix, after, static_cast<size_t>(limit) + 1);
  ModelList list;
  if (static_cast<int64_t>(found.size()) > limit) {
    found.pop_back();
    list.next = found.back()->record.name;
  }
  for (const IndexedModelPtr& entry : found) list.models.push_back(InfoOf(impl_->context.store(), *entry));
  return list;
}

absl::StatusOr<ModelInfo> ModelService::UpdateModel(const MutationContext& context, absl::string_view model,
                                                    absl::string_view etag, const ModelUpdate& update) {
  ModelRecord record;
  return impl_->context.Mutate<ModelInfo>(
      context, {"UpdateModel", model},
      [&](StoreTransaction& transaction) -> absl::StatusOr<ModelInfo> {
        FIDELIO_ASSIGN_OR_RETURN(const IndexedModelPtr before, impl_->context.Find(model));
        FIDELIO_RETURN_IF_ERROR(CheckEtag(etag, before->record));
        FIDELIO_RETURN_IF_ERROR(CheckKnown(model, before->stored.spec));
        StoredSpec stored = before->stored;
        if (update.description) stored.spec.description = *update.description;
        if (update.input_box) stored.spec.input_box = *update.input_box;
        if (update.fidelities) {
          if (update.fidelities->size() != stored.spec.fidelities.size()) {
            return absl::InvalidArgumentError(
                absl::StrCat("model.fidelities: ", update.fidelities->size(), " fidelities, but model ", Quoted(model),
                             " has ", stored.spec.fidelities.size(), ", and their number is immutable"));
          }
          stored.spec.fidelities = *update.fidelities;
        }
        if (update.inputs) stored.spec.inputs = *update.inputs;
        if (update.output) stored.spec.output = *update.output;
        if (update.keep_revisions) stored.spec.keep_revisions = *update.keep_revisions;
        FIDELIO_RETURN_IF_ERROR(ValidateSpec(stored.spec, options()));
        FIDELIO_ASSIGN_OR_RETURN(record, transaction.UpdateModel(model, 0, Encode(stored)));
        return InfoOf(transaction, record, stored);
      },
      [&](const ModelInfo&) { impl_->context.index().Put(record); });
}

absl::Status ModelService::DeleteModel(const MutationContext& context, absl::string_view model,
                                       absl::string_view etag) {
  int64_t uid = 0;
  std::vector<std::shared_ptr<FitJob>> jobs;
  const absl::Status status = impl_->context.MutateWithoutAnswer(
      context, {"DeleteModel", model},
      [&](StoreTransaction& transaction) -> absl::Status {
        const IndexedModelPtr found = impl_->context.index().Find(model);
        if (found == nullptr) return ResourceNotFoundError("model", absl::StrCat("models/", model));
        FIDELIO_RETURN_IF_ERROR(CheckEtag(etag, found->record));
        uid = found->uid;
        return transaction.DeleteModel(model, 0);
      },
      [&] {
        impl_->context.index().Erase(model);
        impl_->context.cache().EraseModel(uid);
        impl_->observations.Forget(uid);
        jobs = impl_->scheduler.RemoveModel(uid);
        for (const auto& job : jobs) {
          job->Update([](FitInfo& info) {
            info.state = FitState::kCancelled;
            info.finished = absl::Now();
          });
        }
      });
  FIDELIO_RETURN_IF_ERROR(status);
  for (const auto& job : jobs) {
    if (options().metrics != nullptr) {
      options().metrics->RecordFit(Metrics::FitState::kCancelled, absl::ToDoubleSeconds(job->Get().progress.elapsed));
    }
  }
  return absl::OkStatus();
}

}  // namespace fidelio
