#include "server/store/revision_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/store/row.h"
#include "server/store/sha256.h"

namespace fidelio {

namespace {

constexpr int64_t kDeletedBytes = -1;

absl::Status InsertRow(Database& database, int64_t model, const RevisionRecord& record) {
  FIDELIO_ASSIGN_OR_RETURN(Statement revision,
                           database.Prepare("INSERT INTO revisions VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)"));
  RowWriter writer(revision, "revisions");
  writer.Int(model).Int(record.id).Blob(record.metadata).Int(record.checkpoint_bytes).Blob(record.sha256);
  return writer.Time(record.created).Run();
}

}  // namespace

absl::Status InsertRevision(Database& database, int64_t model, const RevisionRecord& record,
                            absl::string_view checkpoint) {
  FIDELIO_RETURN_IF_ERROR(InsertRow(database, model, record));
  FIDELIO_ASSIGN_OR_RETURN(Statement bytes, database.Prepare("INSERT INTO checkpoints VALUES(?1, ?2, ?3, ?4)"));
  return RowWriter(bytes, "checkpoints").Int(model).Int(record.id).Blob(checkpoint).Run();
}

absl::Status EraseRevision(Database& database, int64_t model, const RevisionRecord& record) {
  for (const char* sql :
       {"DELETE FROM checkpoints WHERE model=?1 AND revision=?2", "DELETE FROM revisions WHERE model=?1 AND id=?2"}) {
    FIDELIO_ASSIGN_OR_RETURN(Statement statement, database.Prepare(sql));
    statement.BindInt(1, model);
    statement.BindInt(2, record.id);
    FIDELIO_RETURN_IF_ERROR(statement.Run());
    if (database.Changes() != 1) {
      return absl::DataLossError(absl::StrCat("a row of revision ", record.id, " is missing"));
    }
  }
  return InsertRow(database, model, {.id = record.id, .checkpoint_bytes = kDeletedBytes, .created = record.created});
}

absl::StatusOr<std::vector<int64_t>> ReadCheckpointIds(Database& database, int64_t model) {
  FIDELIO_ASSIGN_OR_RETURN(Statement statement,
                           database.Prepare("SELECT revision FROM checkpoints WHERE model=?1 ORDER BY revision"));
  statement.BindInt(1, model);
  std::vector<int64_t> ids;
  while (true) {
    FIDELIO_ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row) return ids;
    ids.push_back(sqlite3_column_int64(statement.get(), 0));
  }
}

absl::StatusOr<std::vector<RevisionRecord>> ReadRevisions(Database& database, const ModelEntry& model, int64_t after,
                                                          int limit) {
  const int64_t last = after + std::min<int64_t>(limit, model.record.revisions - after);
  FIDELIO_ASSIGN_OR_RETURN(
      Statement statement,
      database.Prepare("SELECT model, id, metadata, checkpoint_bytes, sha256, created, crc FROM revisions "
                       "WHERE model=?1 AND id BETWEEN ?2 AND ?3 ORDER BY model, id"));
  statement.BindInt(1, model.id);
  statement.BindInt(2, after + 1);
  statement.BindInt(3, last);
  std::vector<RevisionRecord> records;
  for (int64_t id = after + 1; id <= last; ++id) {
    FIDELIO_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return absl::DataLossError(absl::StrCat("revision ", id, " is missing"));
    RevisionRecord record;
    RowReader row(statement, "revisions");
    const int64_t owner = row.Int();
    record.id = row.Int();
    record.metadata = row.Blob();
    record.checkpoint_bytes = row.Int();
    record.sha256 = row.Blob();
    record.created = row.Time();
    FIDELIO_RETURN_IF_ERROR(row.Finish(absl::StrCat("revision ", id)));
    if (owner != model.id || record.id != id) return absl::DataLossError(absl::StrCat("revision ", id, " is missing"));
    if (IsDeleted(record) &&
        (record.checkpoint_bytes != kDeletedBytes || !record.metadata.empty() || !record.sha256.empty())) {
      return absl::DataLossError(absl::StrCat("revision ", id, " is neither whole nor deleted"));
    }
    records.push_back(std::move(record));
  }
  return records;
}

absl::StatusOr<std::string> LoadCheckpoint(Database& database, int64_t model, const RevisionRecord& record) {
  const std::string what = absl::StrCat("the checkpoint of revision ", record.id);
  FIDELIO_ASSIGN_OR_RETURN(
      Statement statement,
      database.Prepare("SELECT model, revision, bytes, crc FROM checkpoints WHERE model=?1 AND revision=?2"));
  statement.BindInt(1, model);
  statement.BindInt(2, record.id);
  FIDELIO_ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (!found) return absl::DataLossError(absl::StrCat(what, " is missing"));
  RowReader row(statement, "checkpoints");
  const int64_t owner = row.Int();
  const int64_t revision = row.Int();
  std::string bytes = row.Blob();
  FIDELIO_RETURN_IF_ERROR(row.Finish(what));
  if (owner != model || revision != record.id) return absl::DataLossError(absl::StrCat(what, " is missing"));
  if (static_cast<int64_t>(bytes.size()) != record.checkpoint_bytes || Sha256(bytes) != record.sha256) {
    return absl::DataLossError(absl::StrCat(what, " does not have the SHA-256 of its revision"));
  }
  return bytes;
}

}  // namespace fidelio
