#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/store/observation_table.h"
#include "server/store/revision_table.h"
#include "server/store/sqlite_transaction.h"

namespace fidelio {
namespace {

absl::Status CheckLimit(int limit) {
  return limit >= 1 ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrCat("limit: ", limit, " is less than 1"));
}

absl::Status NoSuch(absl::string_view model, absl::string_view what, int64_t id, int64_t last) {
  return absl::NotFoundError(
      absl::StrCat("model \"", model, "\" has no ", what, " ", id, "; it has ", last, last == 1 ? "" : " of them"));
}

}  // namespace

EntryPtr SqliteTransaction::Look(absl::string_view model) const {
  const auto changed = changes_.find(model);
  return changed == changes_.end() ? catalog_.Find(model) : changed->second;
}

absl::StatusOr<EntryPtr> SqliteTransaction::Find(absl::string_view model) const {
  EntryPtr entry = Look(model);
  if (entry == nullptr) return absl::NotFoundError(absl::StrCat("model \"", model, "\" does not exist"));
  if (!entry->record.damage.empty()) {
    return absl::DataLossError(absl::StrCat("model \"", model, "\" is quarantined: ", entry->record.damage));
  }
  return entry;
}

absl::Status SqliteTransaction::Failed(absl::string_view model, const absl::Status& status) const {
  absl::Status result = status;
  if (absl::IsDataLoss(status)) {
    catalog_.Quarantine(model, status.message());
    result = absl::DataLossError(absl::StrCat("model \"", model, "\": ", status.message()));
  }
  if (broken_.ok()) broken_ = result;
  return result;
}

absl::Status SqliteTransaction::Checked(absl::string_view model, const absl::Status& status) const {
  return status.ok() ? status : Failed(model, status);
}

absl::StatusOr<ModelRecord> SqliteTransaction::GetModel(absl::string_view model) const {
  FIDELIO_ASSIGN_OR_RETURN(const EntryPtr entry, Find(model));
  return entry->record;
}

std::vector<EntryPtr> SqliteTransaction::ListEntries(absl::string_view prefix, absl::string_view after,
                                                     size_t limit) const {
  std::vector<EntryPtr> entries = catalog_.List(prefix, after, limit + changes_.size());
  std::erase_if(entries, [this](const EntryPtr& entry) { return changes_.contains(entry->record.name); });
  for (const auto& [name, entry] : changes_) {
    if (entry != nullptr && absl::StartsWith(name, prefix) && absl::string_view(name) > after) entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end(),
            [](const EntryPtr& a, const EntryPtr& b) { return a->record.name < b->record.name; });
  if (entries.size() > limit) entries.resize(limit);
  return entries;
}

absl::StatusOr<ModelPage> SqliteTransaction::ListModels(absl::string_view prefix, absl::string_view after,
                                                        int limit) const {
  FIDELIO_RETURN_IF_ERROR(CheckLimit(limit));
  std::vector<EntryPtr> entries = ListEntries(prefix, after, static_cast<size_t>(limit) + 1);
  ModelPage page;
  if (entries.size() > static_cast<size_t>(limit)) {
    entries.pop_back();
    page.next = entries.back()->record.name;
  }
  for (const EntryPtr& entry : entries) page.models.push_back(entry->record);
  return page;
}

std::vector<UnfinishedFit> SqliteTransaction::UnfinishedFits() const {
  std::vector<UnfinishedFit> fits;
  for (const EntryPtr& entry : ListEntries("", "", std::numeric_limits<int32_t>::max())) {
    if (!entry->record.damage.empty()) continue;
    for (const int64_t id : entry->open_fits) fits.push_back({entry->record.name, id});
  }
  return fits;
}

absl::StatusOr<ObservationPage> SqliteTransaction::ReadObservations(absl::string_view model,
                                                                    const ObservationQuery& query) const {
  FIDELIO_ASSIGN_OR_RETURN(const EntryPtr entry, Find(model));
  absl::StatusOr<ObservationPage> page = ReadBlocks(database_, entry->id, entry->record.data_version, query);
  if (!page.ok()) return Failed(model, page.status());
  return page;
}

absl::StatusOr<FitRecord> SqliteTransaction::GetFit(absl::string_view model, int64_t fit) const {
  FIDELIO_ASSIGN_OR_RETURN(const EntryPtr entry, Find(model));
  if (fit < 1 || fit > entry->record.fits) return NoSuch(model, "fit", fit, entry->record.fits);
  absl::StatusOr<FitRow> row = ReadFit(database_, *entry, fit);
  if (!row.ok()) return Failed(model, row.status());
  return std::move(row->record);
}

absl::StatusOr<FitPage> SqliteTransaction::ListFits(absl::string_view model, int64_t after, int limit) const {
  FIDELIO_RETURN_IF_ERROR(CheckLimit(limit));
  FIDELIO_ASSIGN_OR_RETURN(const EntryPtr entry, Find(model));
  FitPage page;
  after = std::clamp<int64_t>(after, 0, entry->record.fits);
  absl::StatusOr<std::vector<FitRow>> rows = ReadFits(database_, *entry, after, limit);
  if (!rows.ok()) return Failed(model, rows.status());
  for (FitRow& row : *rows) page.fits.push_back(std::move(row.record));
  if (!page.fits.empty() && page.fits.back().id < entry->record.fits) page.next = page.fits.back().id;
  return page;
}

absl::StatusOr<std::string> SqliteTransaction::ReadFitState(absl::string_view model, int64_t fit) const {
  FIDELIO_ASSIGN_OR_RETURN(const EntryPtr entry, Find(model));
  if (fit < 1 || fit > entry->record.fits) return NoSuch(model, "fit", fit, entry->record.fits);
  const absl::StatusOr<FitRow> row = ReadFit(database_, *entry, fit);
  if (!row.ok()) return Failed(model, row.status());
  if (!row->record.has_saved_state) {
    return absl::NotFoundError(absl::StrCat("fit ", fit, " of model \"", model, "\" has no saved state"));
  }
  absl::StatusOr<std::string> state = LoadFitState(database_, entry->id, *row);
  if (!state.ok()) return Failed(model, state.status());
  return state;
}

absl::StatusOr<RevisionRecord> SqliteTransaction::GetRevision(absl::string_view model, int64_t revision) const {
  FIDELIO_ASSIGN_OR_RETURN(const EntryPtr entry, Find(model));
  if (revision < 1 || revision > entry->record.revisions) {
    return NoSuch(model, "revision", revision, entry->record.revisions);
  }
  absl::StatusOr<std::vector<RevisionRecord>> records = ReadRevisions(database_, *entry, revision - 1, 1);
  if (!records.ok()) return Failed(model, records.status());
  if (IsDeleted(records->front())) {
    return absl::NotFoundError(absl::StrCat("revision ", revision, " of model \"", model, "\" was deleted"));
  }
  return std::move(records->front());
}

absl::StatusOr<RevisionPage> SqliteTransaction::ListRevisions(absl::string_view model, int64_t after, int limit) const {
  FIDELIO_RETURN_IF_ERROR(CheckLimit(limit));
  FIDELIO_ASSIGN_OR_RETURN(const EntryPtr entry, Find(model));
  after = std::clamp<int64_t>(after, 0, entry->record.revisions);
  absl::StatusOr<std::vector<RevisionRecord>> records = ReadRevisions(database_, *entry, after, limit);
  if (!records.ok()) return Failed(model, records.status());
  RevisionPage page{.revisions = *std::move(records)};
  if (!page.revisions.empty() && page.revisions.back().id < entry->record.revisions)
    page.next = page.revisions.back().id;
  std::erase_if(page.revisions, IsDeleted);
  return page;
}

absl::StatusOr<std::vector<int64_t>> SqliteTransaction::RevisionIds(absl::string_view model) const {
  FIDELIO_ASSIGN_OR_RETURN(const EntryPtr entry, Find(model));
  absl::StatusOr<std::vector<int64_t>> ids = ReadCheckpointIds(database_, entry->id);
  if (!ids.ok()) return Failed(model, ids.status());
  return ids;
}

absl::StatusOr<std::string> SqliteTransaction::ReadCheckpoint(absl::string_view model, int64_t revision) const {
  FIDELIO_ASSIGN_OR_RETURN(const RevisionRecord record, GetRevision(model, revision));
  absl::StatusOr<std::string> bytes = LoadCheckpoint(database_, Look(model)->id, record);
  if (!bytes.ok()) return Failed(model, bytes.status());
  return bytes;
}

}  // namespace fidelio
