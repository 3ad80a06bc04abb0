// ModelService: revisions, and predictions by them.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/model/core_models.h"
#include "server/model/model_service.h"
#include "server/model/observation_history.h"
#include "server/model/service_impl.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

constexpr int64_t kIdsAtATime = 256;

absl::Status RevisionNotFound(absl::string_view model, int64_t revision) {
  return ResourceNotFoundError("revision", absl::StrCat("models/", model, "/revisions/", revision));
}

absl::StatusOr<RevisionInfo> InfoOf(const IndexedModel& model, const RevisionRecord& record) {
  FIDELIO_ASSIGN_OR_RETURN(RevisionInfo info, Decode<RevisionInfo>(record.metadata));
  info.model = model.record.name;
  info.id = record.id;
  info.created = record.created;
  info.size_bytes = record.checkpoint_bytes;
  info.sha256 = record.sha256;
  info.current = record.id == model.record.current_revision;
  info.withdrawn = WithdrawnSince(model.stored.withdrawn, info.data_version);
  return info;
}

// Notes in the unfinished fits of a model that their revisions are not to be served. Returns their ids.
absl::StatusOr<std::vector<int64_t>> MarkUnfinishedFits(StoreTransaction& transaction, absl::string_view model) {
  std::vector<int64_t> marked;
  for (const UnfinishedFit& fit : transaction.UnfinishedFits()) {
    if (fit.model != model) continue;
    FIDELIO_ASSIGN_OR_RETURN(const FitRecord record, transaction.GetFit(model, fit.id));
    FIDELIO_ASSIGN_OR_RETURN(StoredProgress progress, Decode<StoredProgress>(record.progress));
    progress.not_served = true;
    FIDELIO_RETURN_IF_ERROR(transaction.UpdateFit(model, fit.id, {.progress = Encode(progress)}).status());
    marked.push_back(fit.id);
  }
  return marked;
}

// The revision, from disk. Errors are not explained yet.
absl::StatusOr<std::shared_ptr<const LoadedRevision>> Load(const Store& store, const IndexedModel& model,
                                                           int64_t revision) {
  const std::string& name = model.record.name;
  FIDELIO_ASSIGN_OR_RETURN(const RevisionRecord record, store.GetRevision(name, revision));
  FIDELIO_ASSIGN_OR_RETURN(RevisionInfo info, InfoOf(model, record));
  FIDELIO_ASSIGN_OR_RETURN(const std::string checkpoint, store.ReadCheckpoint(name, revision));
  absl::StatusOr<std::unique_ptr<Emulator>> emulator = LoadEmulator(checkpoint);
  if (absl::IsInvalidArgument(emulator.status())) {  // of another program: nothing is damaged
    return PreconditionError("UNREADABLE_REVISION", absl::StrCat("models/", name, "/revisions/", revision),
                             absl::StrCat("this program can't read it: ", emulator.status().message()),
                             "use the version of Fidelio that made it, or a newer one");
  }
  FIDELIO_RETURN_IF_ERROR(emulator.status());
  const int64_t bytes = FittedModel(**emulator).MemoryBytes();
  return std::make_shared<const LoadedRevision>(std::move(info), model.fidelities(), *std::move(emulator), bytes);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const LoadedRevision>> ModelService::AcquireRevision(absl::string_view model,
                                                                                    int64_t revision,
                                                                                    int64_t min_data_version,
                                                                                    absl::Time deadline) const {
  ServiceContext& context = impl_->context;
  FIDELIO_ASSIGN_OR_RETURN(const IndexedModelPtr found, context.Find(model));
  FIDELIO_RETURN_IF_ERROR(CheckKnown(model, found->stored.spec));
  const int64_t id = revision != 0 ? revision : found->record.current_revision;
  if (id == 0) {
    return PreconditionError("NO_REVISION", absl::StrCat("models/", model), "has no revision yet",
                             "start a fit and wait until it has succeeded");
  }
  if (id < 0 || id > found->record.revisions) return RevisionNotFound(model, id);
  absl::StatusOr<std::shared_ptr<const LoadedRevision>> loaded = context.cache().Get({found->uid, id}, deadline, [&] {
    if (context.options().hooks.on_load) context.options().hooks.on_load(found->record.name, id);
    return Load(context.store(), *found, id);
  });
  if (absl::IsNotFound(loaded.status())) {
    const IndexedModelPtr now = context.index().Find(model);
    if (now != nullptr && now->uid == found->uid) {
      // Deleted: the one asked for, or the current one of a moment ago, which has a successor.
      if (revision != 0 || now->record.current_revision == id) return RevisionNotFound(model, id);
      return AcquireRevision(model, revision, min_data_version, deadline);
    }
  }
  if (!loaded.ok()) return context.Explain(loaded.status(), model);
  if ((*loaded)->data_version() < min_data_version) {
    return PreconditionError(
        "STALE_REVISION", absl::StrCat("models/", model, "/revisions/", id),
        absl::StrCat("knows data_version ", (*loaded)->data_version(), ", but min_data_version is ", min_data_version),
        "start a fit and wait until it has succeeded");
  }
  return loaded;
}

std::shared_ptr<const LoadedRevision> ModelService::FindInMemory(absl::string_view model, int64_t revision) const {
  const IndexedModelPtr found = impl_->context.index().Find(model);
  if (found == nullptr) return nullptr;
  return impl_->context.cache().Peek({found->uid, revision != 0 ? revision : found->record.current_revision});
}

absl::StatusOr<RevisionInfo> ModelService::GetRevision(absl::string_view model, int64_t revision) const {
  FIDELIO_ASSIGN_OR_RETURN(const IndexedModelPtr found, impl_->context.Find(model));
  const absl::StatusOr<RevisionRecord> record = impl_->context.store().GetRevision(model, revision);
  if (absl::IsNotFound(record.status())) return RevisionNotFound(model, revision);
  absl::StatusOr<RevisionInfo> info = record.ok() ? InfoOf(*found, *record) : record.status();
  return info.ok() ? info : impl_->context.Explain(info.status(), model);
}

absl::StatusOr<RevisionList> ModelService::ListRevisions(absl::string_view model, int64_t before, int64_t limit) const {
  if (limit < 1) return absl::InvalidArgumentError(absl::StrCat("page_size: ", limit, ", want at least 1"));
  FIDELIO_ASSIGN_OR_RETURN(const IndexedModelPtr found, impl_->context.Find(model));
  RevisionList list;
  const int64_t newest = found->record.revisions;
  // Backwards, some ids at a time, since any of them may be deleted; one more than wanted tells whether there is a next
  // page.
  for (int64_t last = before > 0 ? std::min(before - 1, newest) : newest; last > 0;) {
    const int64_t first = std::max<int64_t>(0, last - kIdsAtATime);
    const absl::StatusOr<RevisionPage> page =
        impl_->context.store().ListRevisions(model, first, static_cast<int>(last - first));
    if (!page.ok()) return impl_->context.Explain(page.status(), model);
    for (auto record = page->revisions.rbegin(); record != page->revisions.rend(); ++record) {
      if (static_cast<int64_t>(list.revisions.size()) == limit) {
        list.next = list.revisions.back().id;
        return list;
      }
      absl::StatusOr<RevisionInfo> info = InfoOf(*found, *record);
      if (!info.ok()) return impl_->context.Explain(info.status(), model);
      list.revisions.push_back(*std::move(info));
    }
    last = first;
  }
  return list;
}

absl::StatusOr<ModelInfo> ModelService::RollbackModel(const MutationContext& context, absl::string_view model,
                                                      absl::string_view etag, int64_t revision) {
  ModelRecord record;
  std::vector<int64_t> unfinished;  // fits
  return impl_->context.Mutate<ModelInfo>(
      context, {"RollbackModel", model},
      [&](StoreTransaction& transaction) -> absl::StatusOr<ModelInfo> {
        // Of a quarantined model, too: another revision may be the way out.
        const IndexedModelPtr found = impl_->context.index().Find(model);
        if (found == nullptr) return ResourceNotFoundError("model", absl::StrCat("models/", model));
        FIDELIO_RETURN_IF_ERROR(CheckEtag(etag, found->record));
        const absl::StatusOr<RevisionRecord> wanted = transaction.GetRevision(model, revision);
        if (absl::IsNotFound(wanted.status())) return RevisionNotFound(model, revision);
        FIDELIO_RETURN_IF_ERROR(wanted.status());
        FIDELIO_ASSIGN_OR_RETURN(record, transaction.SetCurrentRevision(model, 0, revision));
        FIDELIO_ASSIGN_OR_RETURN(unfinished, MarkUnfinishedFits(transaction, model));
        return InfoOf(transaction, IndexedModel{.record = record, .stored = found->stored});
      },
      [&](const ModelInfo&) {
        impl_->context.index().Put(record);
        for (const int64_t fit : unfinished) {
          const auto job = impl_->scheduler.Find(model, fit);
          if (job != nullptr) job->Update([](FitInfo& info) { info.not_served = true; });
        }
      });
}

absl::Status ModelService::DeleteRevision(const MutationContext& context, absl::string_view model,
                                          absl::string_view etag, int64_t revision) {
  int64_t uid = 0;
  return impl_->context.MutateWithoutAnswer(
      context, {"DeleteRevision", model},
      [&](StoreTransaction& transaction) -> absl::Status {
        FIDELIO_ASSIGN_OR_RETURN(const IndexedModelPtr found, impl_->context.Find(model));
        FIDELIO_RETURN_IF_ERROR(CheckEtag(etag, found->record));
        uid = found->uid;
        if (revision == found->record.current_revision) {
          return PreconditionError("CURRENT_REVISION", absl::StrCat("models/", model, "/revisions/", revision),
                                   "is the one that the model serves", "roll the model back to another revision first");
        }
        const absl::Status status = transaction.DeleteRevision(model, 0, revision);
        return absl::IsNotFound(status) ? RevisionNotFound(model, revision) : status;
      },
      [&] {
        impl_->context.cache().Erase({uid, revision});
      });
}

}  // namespace fidelio
