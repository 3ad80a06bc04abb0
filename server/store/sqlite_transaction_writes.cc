#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/store/observation_table.h"
#include "server/store/revision_table.h"
#include "server/store/sha256.h"
#include "server/store/sqlite_transaction.h"

namespace fidelio {
namespace {

absl::Status CheckSize(absl::string_view field, absl::string_view bytes) {
  if (static_cast<int64_t>(bytes.size()) <= kMaxBlobBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", bytes.size(), " bytes; the most is ", kMaxBlobBytes));
}

absl::Status CheckEtag(const ModelEntry& entry, int64_t etag) {
  if (etag == 0 || etag == entry.record.etag) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("etag: ", etag, ", but model \"", entry.record.name, "\" has ",
                                         entry.record.etag, ": it has changed; read it again"));
}

absl::string_view NameOf(FitState state) {
  switch (state) {
    case FitState::kPending:
      return "PENDING";
    case FitState::kRunning:
      return "RUNNING";
    case FitState::kSucceeded:
      return "SUCCEEDED";
    case FitState::kFailed:
      return "FAILED";
    case FitState::kCancelled:
      return "CANCELLED";
  }
  return "unknown";
}

absl::Status CheckFitChange(const ModelEntry& entry, const FitRecord& fit, const FitChange& change) {
  const std::string at = absl::StrCat("fit ", fit.id, " of model \"", entry.record.name, "\"");
  const FitState next = change.state.value_or(fit.state);
  if (IsFinished(fit.state)) {
    return absl::FailedPreconditionError(absl::StrCat(at, " is ", NameOf(fit.state), " and can't change any more"));
  }
  if (fit.state == FitState::kPending && next == FitState::kSucceeded) {
    return absl::FailedPreconditionError(absl::StrCat(at, " is PENDING: it can't succeed before it is RUNNING"));
  }
  if (change.data_version && fit.state != FitState::kPending) {
    return absl::FailedPreconditionError(absl::StrCat(at, " is RUNNING: its data_version can't change any more"));
  }
  if (change.data_version && (*change.data_version < 0 || *change.data_version > entry.record.data_version)) {
    return absl::InvalidArgumentError(
        absl::StrCat("data_version: ", *change.data_version, " is not in 0 … ", entry.record.data_version));
  }
  if (change.revision && (*change.revision < 0 || *change.revision > entry.record.revisions)) {
    return absl::InvalidArgumentError(
        absl::StrCat("revision: ", *change.revision, " is not in 0 … ", entry.record.revisions));
  }
  FIDELIO_RETURN_IF_ERROR(CheckSize("progress", change.progress.value_or("")));
  FIDELIO_RETURN_IF_ERROR(CheckSize("error", change.error.value_or("")));
  return change.saved_state ? CheckSize("saved_state", *change.saved_state) : absl::OkStatus();
}

}  // namespace

absl::Status SqliteTransaction::Put(const ModelEntry& entry) {
  FIDELIO_RETURN_IF_ERROR(Checked(entry.record.name, UpdateModelRow(database_, entry)));
  changes_[entry.record.name] = std::make_shared<ModelEntry>(entry);
  return absl::OkStatus();
}

absl::Status SqliteTransaction::PutStore(const StoreRow& row) {
  if (const absl::Status status = UpdateStoreRow(database_, row); !status.ok()) {
    if (broken_.ok()) broken_ = status;
    return status;
  }
  store_ = row;
  return absl::OkStatus();
}

absl::StatusOr<ModelRecord> SqliteTransaction::CreateModel(absl::string_view model, absl::string_view spec) {
  if (model.empty() || model.size() > 255 || model.find('\0') != absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("model: a name of ", model.size(), " bytes; it needs 1 to 255, none of them NUL"));
  }
  FIDELIO_RETURN_IF_ERROR(CheckSize("spec", spec));
  if (Look(model) != nullptr) return absl::AlreadyExistsError(absl::StrCat("model \"", model, "\" exists already"));
  ModelEntry entry;
  StoreRow row = store_;
  entry.id = row.next_model++;
  ++row.models;
  entry.record.name = std::string(model);
  entry.record.etag = 1;
  entry.record.spec = std::string(spec);
  entry.record.created = entry.record.updated = now_;
  FIDELIO_RETURN_IF_ERROR(PutStore(row));
  FIDELIO_RETURN_IF_ERROR(Checked(model, InsertModelRow(database_, entry)));
  changes_[entry.record.name] = std::make_shared<ModelEntry>(entry);
  return entry.record;
}

absl::StatusOr<ModelRecord> SqliteTransaction::UpdateModel(absl::string_view model, int64_t etag,
                                                           absl::string_view spec) {
  FIDELIO_RETURN_IF_ERROR(CheckSize("spec", spec));
  FIDELIO_ASSIGN_OR_RETURN(const EntryPtr found, Find(model));
  FIDELIO_RETURN_IF_ERROR(CheckEtag(*found, etag));
  ModelEntry entry = *found;
  entry.record.spec = std::string(spec);
  ++entry.record.etag;
  entry.record.updated = now_;
  FIDELIO_RETURN_IF_ERROR(Put(entry));
  return entry.record;
}

absl::Status SqliteTransaction::DeleteRows(const ModelEntry& entry) {
  FIDELIO_RETURN_IF_ERROR(EraseRequests(entry));
  for (const char* sql : {"DELETE FROM requests WHERE model=?1", "DELETE FROM checkpoints WHERE model=?1",
                          "DELETE FROM revisions WHERE model=?1", "DELETE FROM fit_states WHERE model=?1",
                          "DELETE FROM fits WHERE model=?1", "DELETE FROM observations WHERE model=?1"}) {
    FIDELIO_ASSIGN_OR_RETURN(Statement statement, database_.Prepare(sql));
    statement.BindInt(1, entry.id);
    FIDELIO_RETURN_IF_ERROR(statement.Run());
  }
  return DeleteModelRow(database_, entry.id);
}

absl::Status SqliteTransaction::DeleteModel(absl::string_view model, int64_t etag) {
  const EntryPtr entry = Look(model);
  if (entry == nullptr) return absl::NotFoundError(absl::StrCat("model \"", model, "\" does not exist"));
  FIDELIO_RETURN_IF_ERROR(CheckEtag(*entry, etag));
  FIDELIO_RETURN_IF_ERROR(Checked(model, DeleteRows(*entry)));
  StoreRow row = store_;
  --row.models;
  FIDELIO_RETURN_IF_ERROR(PutStore(row));
  changes_[entry->record.name] = nullptr;
  return absl::OkStatus();
}

absl::StatusOr<int64_t> SqliteTransaction::AppendObservations(absl::string_view model,
                                                              absl::Span<const ObservationBlock> batch) {
  if (batch.empty()) return absl::InvalidArgumentError("batch: 0 blocks; it needs at least one");
  return PutVersion(model, nullptr, batch);
}

absl::StatusOr<int64_t> SqliteTransaction::WithdrawObservations(absl::string_view model, const WithdrawnRows& withdrawn,
                                                                absl::Span<const ObservationBlock> batch) {
  return PutVersion(model, &withdrawn, batch);
}

absl::StatusOr<int64_t> SqliteTransaction::PutVersion(absl::string_view model, const WithdrawnRows* withdrawn,
                                                      absl::Span<const ObservationBlock> batch) {
  FIDELIO_RETURN_IF_ERROR(ValidateBatch(batch));
  FIDELIO_ASSIGN_OR_RETURN(const EntryPtr found, Find(model));
  if (withdrawn != nullptr) FIDELIO_RETURN_IF_ERROR(ValidateWithdrawn(*withdrawn, found->record));
  ModelEntry entry = *found;
  ModelRecord& record = entry.record;
  ++record.data_version;
  ++record.etag;
  record.updated = now_;
  for (const ObservationBlock& block : batch) {
    const auto level = static_cast<size_t>(block.level);
    if (record.observations.size() <= level) record.observations.resize(level + 1, 0);
    record.observations[level] += block.rows;
  }
  if (withdrawn != nullptr) {
    for (const RowRange& range : withdrawn->rows) record.observations[static_cast<size_t>(range.level)] -= range.count;
  }
  FIDELIO_RETURN_IF_ERROR(
      Checked(model, InsertVersion(database_, entry.id, record.data_version, withdrawn, batch, now_)));
  FIDELIO_RETURN_IF_ERROR(Put(entry));
  return record.data_version;
}

absl::StatusOr<FitRecord> SqliteTransaction::CreateFit(absl::string_view model, absl::string_view options) {
  FIDELIO_RETURN_IF_ERROR(CheckSize("options", options));
  FIDELIO_ASSIGN_OR_RETURN(const EntryPtr found, Find(model));
  ModelEntry entry = *found;
  FitRow row;
  row.record.id = ++entry.record.fits;
  row.record.options = std::string(options);
  row.record.data_version = entry.record.data_version;
  row.record.created = now_;
  entry.open_fits.push_back(row.record.id);
  FIDELIO_RETURN_IF_ERROR(Checked(model, InsertFit(database_, entry.id, row)));
  FIDELIO_RETURN_IF_ERROR(Put(entry));
  return row.record;
}

absl::StatusOr<FitRecord> SqliteTransaction::UpdateFit(absl::string_view model, int64_t fit, const FitChange& change) {
  FIDELIO_RETURN_IF_ERROR(GetFit(model, fit).status());
  ModelEntry entry = *Look(model);
  absl::StatusOr<FitRow> row = ReadFit(database_, entry, fit);
  if (!row.ok()) return Failed(model, row.status());
  FitRecord& record = row->record;
  FIDELIO_RETURN_IF_ERROR(CheckFitChange(entry, record, change));

  record.state = change.state.value_or(record.state);
  record.data_version = change.data_version.value_or(record.data_version);
  record.progress = change.progress.value_or(std::move(record.progress));
  record.error = change.error.value_or(std::move(record.error));
  record.revision = change.revision.value_or(record.revision);
  if (record.state == FitState::kRunning && record.started == absl::InfinitePast()) record.started = now_;
  if (IsFinished(record.state)) {
    record.finished = now_;
    FIDELIO_RETURN_IF_ERROR(Checked(model, DropFitState(database_, entry.id, *row)));
  } else if (change.saved_state) {
    FIDELIO_RETURN_IF_ERROR(Checked(model, SaveFitState(database_, entry.id, *change.saved_state, *row)));
  }
  FIDELIO_RETURN_IF_ERROR(Checked(model, UpdateFitRow(database_, entry.id, *row)));
  if (IsFinished(record.state)) {
    std::erase(entry.open_fits, fit);
    FIDELIO_RETURN_IF_ERROR(Put(entry));
  }
  return record;
}

absl::StatusOr<RevisionRecord> SqliteTransaction::AddRevision(absl::string_view model, absl::string_view metadata,
                                                              absl::string_view checkpoint) {
  FIDELIO_RETURN_IF_ERROR(CheckSize("metadata", metadata));
  FIDELIO_RETURN_IF_ERROR(CheckSize("checkpoint", checkpoint));
  FIDELIO_ASSIGN_OR_RETURN(const EntryPtr found, Find(model));
  ModelEntry entry = *found;
  const RevisionRecord record{.id = ++entry.record.revisions,
                              .metadata = std::string(metadata),
                              .checkpoint_bytes = static_cast<int64_t>(checkpoint.size()),
                              .sha256 = Sha256(checkpoint),
                              .created = now_};
  FIDELIO_RETURN_IF_ERROR(Checked(model, InsertRevision(database_, entry.id, record, checkpoint)));
  FIDELIO_RETURN_IF_ERROR(Put(entry));
  return record;
}

absl::StatusOr<ModelRecord> SqliteTransaction::SetCurrentRevision(absl::string_view model, int64_t etag,
                                                                  int64_t revision) {
  FIDELIO_ASSIGN_OR_RETURN(const EntryPtr found, Find(model));
  FIDELIO_RETURN_IF_ERROR(CheckEtag(*found, etag));
  FIDELIO_RETURN_IF_ERROR(GetRevision(model, revision).status());
  if (found->record.current_revision == revision) return found->record;
  ModelEntry entry = *found;
  entry.record.current_revision = revision;
  ++entry.record.etag;
  entry.record.updated = now_;
  FIDELIO_RETURN_IF_ERROR(Put(entry));
  return entry.record;
}

absl::Status SqliteTransaction::DeleteRevision(absl::string_view model, int64_t etag, int64_t revision) {
  FIDELIO_ASSIGN_OR_RETURN(const EntryPtr found, Find(model));
  FIDELIO_RETURN_IF_ERROR(CheckEtag(*found, etag));
  FIDELIO_ASSIGN_OR_RETURN(const RevisionRecord record, GetRevision(model, revision));
  if (found->record.current_revision == revision) {
    return absl::FailedPreconditionError(
        absl::StrCat("revision ", revision, " of model \"", model, "\" is the current one and can't be deleted"));
  }
  return Checked(model, EraseRevision(database_, found->id, record));
}

}  // namespace fidelio
