#include "server/store/schema.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/store/model_table.h"

namespace fidelio {
namespace {

// There is no secondary index: it would be a second truth. Tables of a model's children are clustered by model, so that a
// damaged page concerns few models.
struct Table {
  const char* name;
  const char* sql;
  const char* sql_of_version_1 = nullptr;  // where it was another one

  const char* Sql(int version) const { return version == 1 && sql_of_version_1 != nullptr ? sql_of_version_1 : sql; }
};

constexpr Table kTables[] = {
    {"checkpoints",
     "CREATE TABLE checkpoints(model INTEGER NOT NULL REFERENCES models(id), revision INTEGER NOT NULL, "
     "bytes BLOB NOT NULL, crc INTEGER NOT NULL, PRIMARY KEY(model, revision)) STRICT, WITHOUT ROWID"},
    {"fit_states",
     "CREATE TABLE fit_states(model INTEGER NOT NULL REFERENCES models(id), fit INTEGER NOT NULL, "
     "bytes BLOB NOT NULL, crc INTEGER NOT NULL, PRIMARY KEY(model, fit)) STRICT, WITHOUT ROWID"},
    {"fits",
     "CREATE TABLE fits(model INTEGER NOT NULL REFERENCES models(id), id INTEGER NOT NULL, state INTEGER NOT NULL, "
     "options BLOB NOT NULL, data_version INTEGER NOT NULL, progress BLOB NOT NULL, error TEXT NOT NULL, "
     "revision INTEGER NOT NULL, state_bytes INTEGER NOT NULL, state_crc INTEGER NOT NULL, created INTEGER NOT NULL, "
     "started INTEGER NOT NULL, finished INTEGER NOT NULL, crc INTEGER NOT NULL, "
     "PRIMARY KEY(model, id)) STRICT, WITHOUT ROWID"},
    {"models",
     "CREATE TABLE models(id INTEGER PRIMARY KEY, name TEXT NOT NULL, etag INTEGER NOT NULL, spec BLOB NOT NULL, "
     "data_version INTEGER NOT NULL, observations BLOB NOT NULL, fits INTEGER NOT NULL, open_fits BLOB NOT NULL, "
     "revisions INTEGER NOT NULL, current_revision INTEGER NOT NULL, first_request INTEGER NOT NULL, "
     "next_request INTEGER NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL, crc INTEGER NOT NULL) STRICT"},
    {"names", "CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT NOT NULL, crc INTEGER NOT NULL) STRICT"},
    {"observations",
     "CREATE TABLE observations(model INTEGER NOT NULL REFERENCES models(id), data_version INTEGER NOT NULL, "
     "part INTEGER NOT NULL, parts INTEGER NOT NULL, kind INTEGER NOT NULL, level INTEGER NOT NULL, "
     "points INTEGER NOT NULL, dimension INTEGER NOT NULL, x BLOB NOT NULL, y BLOB NOT NULL, noise BLOB, run_ids BLOB, "
     "reason TEXT NOT NULL, created INTEGER NOT NULL, crc INTEGER NOT NULL, "
     "PRIMARY KEY(model, data_version, part)) STRICT, WITHOUT ROWID",
     "CREATE TABLE observations(model INTEGER NOT NULL REFERENCES models(id), data_version INTEGER NOT NULL, "
     "part INTEGER NOT NULL, parts INTEGER NOT NULL, level INTEGER NOT NULL, points INTEGER NOT NULL, "
     "dimension INTEGER NOT NULL, x BLOB NOT NULL, y BLOB NOT NULL, noise BLOB, created INTEGER NOT NULL, "
     "crc INTEGER NOT NULL, PRIMARY KEY(model, data_version, part)) STRICT, WITHOUT ROWID"},
    {"requests",
     "CREATE TABLE requests(model INTEGER NOT NULL, seq INTEGER NOT NULL, principal TEXT NOT NULL, "
     "request_id TEXT NOT NULL, digest BLOB NOT NULL, answer BLOB NOT NULL, erased INTEGER NOT NULL, "
     "time INTEGER NOT NULL, crc INTEGER NOT NULL, PRIMARY KEY(model, seq)) STRICT, WITHOUT ROWID"},
    {"revisions",
     "CREATE TABLE revisions(model INTEGER NOT NULL REFERENCES models(id), id INTEGER NOT NULL, "
     "metadata BLOB NOT NULL, checkpoint_bytes INTEGER NOT NULL, sha256 BLOB NOT NULL, created INTEGER NOT NULL, "
     "crc INTEGER NOT NULL, PRIMARY KEY(model, id)) STRICT, WITHOUT ROWID"},
    {"store",
     "CREATE TABLE store(id INTEGER PRIMARY KEY, next_model INTEGER NOT NULL, models INTEGER NOT NULL, "
     "first_request INTEGER NOT NULL, next_request INTEGER NOT NULL, created INTEGER NOT NULL, "
     "crc INTEGER NOT NULL) STRICT"},
};

absl::Status Damaged(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("the database's header or schema is damaged: ", what));
}

}  // namespace

absl::Status CreateTables(Database& database, int version) {
  for (const Table& table : kTables) FIDELIO_RETURN_IF_ERROR(database.Execute(table.Sql(version)));
  return database.Execute(absl::StrCat("PRAGMA application_id=", kApplicationId, "; PRAGMA user_version=", version));
}

absl::Status CreateSchema(Database& database, absl::Time now, int made) {
  FIDELIO_ASSIGN_OR_RETURN(const int64_t version, database.Integer("PRAGMA user_version"));
  if (version > kFormatVersion || version < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("the database has format version ", version, ", and this program knows versions up to ",
                     kFormatVersion, ": use the newer program that wrote it (or restore a backup, if none did)"));
  }
  if (version != 0) return absl::OkStatus();
  // Version 0 is an empty file: nothing of ours was ever committed to it.
  FIDELIO_ASSIGN_OR_RETURN(const int64_t objects, database.Integer("SELECT count(*) FROM sqlite_schema"));
  FIDELIO_ASSIGN_OR_RETURN(const int64_t application, database.Integer("PRAGMA application_id"));
  if (application == kApplicationId) return Damaged("user_version is 0 in a database with tables");
  if (objects != 0 || application != 0) {
    return absl::FailedPreconditionError("the database holds tables of another program; choose another directory");
  }
  FIDELIO_RETURN_IF_ERROR(database.Begin());
  absl::Status status = CreateTables(database, made);
  if (status.ok()) status = InsertStoreRow(database, {.created = now});
  if (!status.ok()) {
    database.Rollback();
    return status;
  }
  return database.Commit();
}

absl::Status VerifySchema(Database& database, int version) {
  FIDELIO_ASSIGN_OR_RETURN(const int64_t application, database.Integer("PRAGMA application_id"));
  if (application != kApplicationId) return Damaged(absl::StrCat("application_id is ", application));
  // A flipped bit here would let SQLite overwrite pages that are in use.
  FIDELIO_ASSIGN_OR_RETURN(const int64_t auto_vacuum, database.Integer("PRAGMA auto_vacuum"));
  if (auto_vacuum != 0) return Damaged(absl::StrCat("auto_vacuum is ", auto_vacuum, ", not 0"));
  if (sqlite3_db_readonly(database.connection(), "main") != 0) return Damaged("the file says that it is read-only");

  FIDELIO_ASSIGN_OR_RETURN(
      Statement statement,
      database.Prepare("SELECT type, name, tbl_name, sql, rootpage FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' "
                       "ORDER BY name"));
  const auto text = [&statement](int column) {
    const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement.get(), column));
    return std::string(data == nullptr ? "" : data);
  };
  int64_t root = 1;  // the page before: each table's first page follows that of the table made before it
  for (const Table& table : kTables) {
    FIDELIO_ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row || text(0) != "table" || text(1) != table.name || text(2) != table.name || text(3) != table.Sql(version) ||
        sqlite3_column_int64(statement.get(), 4) != ++root) {
      return Damaged(absl::StrCat("table \"", table.name, "\" is missing or is not as it was made"));
    }
  }
  FIDELIO_ASSIGN_OR_RETURN(const bool more, statement.Step());
  if (more) return Damaged(absl::StrCat("there is an unknown table \"", text(1), "\""));
  return absl::OkStatus();
}

absl::Status VerifySize(Database& database, const std::string& path) {
  FIDELIO_ASSIGN_OR_RETURN(const int64_t pages, database.Integer("PRAGMA page_count"));
  FIDELIO_ASSIGN_OR_RETURN(const int64_t page_size, database.Integer("PRAGMA page_size"));
  std::error_code error;
  const auto size = static_cast<int64_t>(std::filesystem::file_size(path, error));
  if (!error && size == pages * page_size) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("the file has ", size, " bytes, but its header says ", pages, " pages of ", page_size));
}

}  // namespace fidelio
