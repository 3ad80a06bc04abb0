#include "server/store/model_table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/store/row.h"

namespace fidelio {
namespace {

constexpr char kModelColumns[] =
    "SELECT id, name, etag, spec, data_version, observations, fits, open_fits, revisions, current_revision, "
    "first_request, next_request, created, updated, crc FROM models ORDER BY id";
constexpr char kOneModel[] =
    "SELECT id, name, etag, spec, data_version, observations, fits, open_fits, revisions, current_revision, "
    "first_request, next_request, created, updated, crc FROM models WHERE id=?1";

absl::Status WriteStoreRow(Database& database, const char* sql, const StoreRow& row) {
  FIDELIO_ASSIGN_OR_RETURN(Statement statement, database.Prepare(sql));
  RowWriter writer(statement, "store");
  writer.Int(1).Int(row.next_model).Int(row.models).Int(row.first_request).Int(row.next_request).Time(row.created);
  FIDELIO_RETURN_IF_ERROR(writer.Run());
  return database.Changes() == 1 ? absl::OkStatus() : absl::DataLossError("the store's own row is missing");
}

absl::Status WriteModelRow(Database& database, const char* sql, const ModelEntry& entry) {
  const ModelRecord& record = entry.record;
  FIDELIO_ASSIGN_OR_RETURN(Statement statement, database.Prepare(sql));
  RowWriter writer(statement, "models");
  writer.Int(entry.id).Text(record.name).Int(record.etag).Blob(record.spec).Int(record.data_version);
  writer.Blob(BytesOf(record.observations)).Int(record.fits).Blob(BytesOf(entry.open_fits)).Int(record.revisions);
  writer.Int(record.current_revision).Int(entry.first_request).Int(entry.next_request);
  writer.Time(record.created).Time(record.updated);
  FIDELIO_RETURN_IF_ERROR(writer.Run());
  return database.Changes() == 1 ? absl::OkStatus() : absl::DataLossError("the model's row is missing");
}

absl::StatusOr<ModelEntry> DecodeModel(const Statement& statement) {
  ModelEntry entry;
  ModelRecord& record = entry.record;
  RowReader row(statement, "models");
  entry.id = row.Int();
  record.name = row.Text();
  record.etag = row.Int();
  record.spec = row.Blob();
  record.data_version = row.Int();
  const std::string observations = row.Blob();
  record.fits = row.Int();
  const std::string open_fits = row.Blob();
  record.revisions = row.Int();
  record.current_revision = row.Int();
  entry.first_request = row.Int();
  entry.next_request = row.Int();
  record.created = row.Time();
  record.updated = row.Time();
  FIDELIO_RETURN_IF_ERROR(row.Finish("the model's row"));
  record.observations = IntegersOf(observations);
  entry.open_fits = IntegersOf(open_fits);
  return entry;
}

}  // namespace

absl::Status InsertStoreRow(Database& database, const StoreRow& row) {
  return WriteStoreRow(database, "INSERT INTO store VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)", row);
}

absl::Status UpdateStoreRow(Database& database, const StoreRow& row) {
  return WriteStoreRow(database,
                       "UPDATE store SET next_model=?2, models=?3, first_request=?4, next_request=?5, created=?6, "
                       "crc=?7 WHERE id=?1",
                       row);
}

absl::StatusOr<StoreRow> ReadStoreRow(Database& database) {
  FIDELIO_ASSIGN_OR_RETURN(Statement statement,
                           database.Prepare("SELECT id, next_model, models, first_request, next_request, created, crc "
                                            "FROM store"));
  FIDELIO_ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (!found) return absl::DataLossError("the store's own row is missing");
  StoreRow result;
  RowReader row(statement, "store");
  (void)row.Int();
  result.next_model = row.Int();
  result.models = row.Int();
  result.first_request = row.Int();
  result.next_request = row.Int();
  result.created = row.Time();
  FIDELIO_RETURN_IF_ERROR(row.Finish("the store's own row"));
  return result;
}

absl::Status InsertModelRow(Database& database, const ModelEntry& entry) {
  FIDELIO_RETURN_IF_ERROR(WriteModelRow(
      database, "INSERT INTO models VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)", entry));
  FIDELIO_ASSIGN_OR_RETURN(Statement statement, database.Prepare("INSERT INTO names VALUES(?1, ?2, ?3)"));
  return RowWriter(statement, "names").Int(entry.id).Text(entry.record.name).Run();
}

absl::Status UpdateModelRow(Database& database, const ModelEntry& entry) {
  return WriteModelRow(database,
                       "UPDATE models SET name=?2, etag=?3, spec=?4, data_version=?5, observations=?6, fits=?7, "
                       "open_fits=?8, revisions=?9, current_revision=?10, first_request=?11, next_request=?12, "
                       "created=?13, updated=?14, crc=?15 WHERE id=?1",
                       entry);
}

absl::Status DeleteModelRow(Database& database, int64_t id) {
  for (const char* sql : {"DELETE FROM models WHERE id=?1", "DELETE FROM names WHERE id=?1"}) {
    FIDELIO_ASSIGN_OR_RETURN(Statement statement, database.Prepare(sql));
    statement.BindInt(1, id);
    FIDELIO_RETURN_IF_ERROR(statement.Run());
  }
  return absl::OkStatus();
}

std::map<int64_t, std::string> ReadNames(Database& database, std::vector<std::string>& findings) {
  std::map<int64_t, std::string> names;
  const auto scan = [&]() -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(Statement statement, database.Prepare("SELECT id, name, crc FROM names ORDER BY id"));
    while (true) {
      FIDELIO_ASSIGN_OR_RETURN(const bool found, statement.Step());
      if (!found) return absl::OkStatus();
      RowReader row(statement, "names");
      const int64_t id = row.Int();
      std::string name = row.Text();
      if (const absl::Status status = row.Finish(absl::StrCat("row ", id, " of table names")); !status.ok()) {
        findings.emplace_back(status.message());
      } else {
        names[id] = std::move(name);
      }
    }
  };
  if (const absl::Status status = scan(); !status.ok()) findings.emplace_back(status.message());
  return names;
}

std::map<int64_t, ModelEntry> ReadModels(Database& database, std::vector<std::string>& findings) {
  std::map<int64_t, ModelEntry> models;
  const auto scan = [&]() -> absl::Status {
    FIDELIO_ASSIGN_OR_RETURN(Statement statement, database.Prepare(kModelColumns));
    while (true) {
      FIDELIO_ASSIGN_OR_RETURN(const bool found, statement.Step());
      if (!found) return absl::OkStatus();
      absl::StatusOr<ModelEntry> entry = DecodeModel(statement);
      if (!entry.ok()) {
        findings.push_back(absl::StrCat("row ", sqlite3_column_int64(statement.get(), 0),
                                        " of table models: ", entry.status().message()));
      } else {
        const int64_t id = entry->id;
        models[id] = *std::move(entry);
      }
    }
  };
  if (const absl::Status status = scan(); !status.ok()) findings.emplace_back(status.message());
  return models;
}

absl::StatusOr<ModelEntry> ReadModel(Database& database, int64_t id) {
  FIDELIO_ASSIGN_OR_RETURN(Statement statement, database.Prepare(kOneModel));
  statement.BindInt(1, id);
  FIDELIO_ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (!found) return absl::DataLossError("the model's row is missing");
  FIDELIO_ASSIGN_OR_RETURN(ModelEntry entry, DecodeModel(statement));
  if (entry.id != id) return absl::DataLossError("another model's row is in its place");
  return entry;
}

}  // namespace fidelio
