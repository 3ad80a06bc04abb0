#include "server/store/database.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/store/private_file.h"
#include "server/store/records.h"

namespace fidelio {
namespace {

bool IsOutOfSpace(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

bool IsSync(int result) { return result == SQLITE_IOERR_FSYNC || result == SQLITE_IOERR_DIR_FSYNC; }

// Of sectors that can't be read. Writing is not involved, so the disk's state is known.
bool IsUnreadable(int result) {
  return result == SQLITE_IOERR_READ || result == SQLITE_IOERR_SHORT_READ || result == SQLITE_IOERR_CORRUPTFS ||
         result == SQLITE_IOERR_DATA;
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      bind_result_(other.bind_result_) {}

Statement::~Statement() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

void Statement::BindInt(int parameter, int64_t value) {
  const int result = sqlite3_bind_int64(statement_, parameter, value);
  if (bind_result_ == SQLITE_OK) bind_result_ = result;
}

void Statement::BindText(int parameter, absl::string_view value) {
  const char* data = value.empty() ? "" : value.data();
  const int result = sqlite3_bind_text64(statement_, parameter, data, value.size(), SQLITE_STATIC, SQLITE_UTF8);
  if (bind_result_ == SQLITE_OK) bind_result_ = result;
}

void Statement::BindBlob(int parameter, absl::string_view value) {
  const char* data = value.empty() ? "" : value.data();  // a null pointer would bind NULL
  const int result = sqlite3_bind_blob64(statement_, parameter, data, value.size(), SQLITE_STATIC);
  if (bind_result_ == SQLITE_OK) bind_result_ = result;
}

void Statement::BindNull(int parameter) {
  const int result = sqlite3_bind_null(statement_, parameter);
  if (bind_result_ == SQLITE_OK) bind_result_ = result;
}

absl::StatusOr<bool> Statement::Step() {
  FIDELIO_RETURN_IF_ERROR(database_->dead());
  database_->BeginCall();
  if (bind_result_ != SQLITE_OK) return database_->Error(bind_result_, sqlite3_sql(statement_));
  const int result = sqlite3_step(statement_);
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  return database_->Error(result, sqlite3_sql(statement_));
}

absl::Status Statement::Run() {
  while (true) {
    FIDELIO_ASSIGN_OR_RETURN(const bool row, Step());
    if (!row) return absl::OkStatus();
  }
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(Options options) {
  std::unique_ptr<Database> database(new Database(std::move(options)));
  const Options& o = database->options_;
  FIDELIO_ASSIGN_OR_RETURN(database->vfs_, ScrubVfs::Register(o.vfs));
  FIDELIO_RETURN_IF_ERROR(MakePrivate(o.path));
  const int result = sqlite3_open_v2(
      o.path.c_str(), &database->connection_,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE,
      database->vfs_->name());
  if (database->connection_ == nullptr) return absl::ResourceExhaustedError("no memory for a database connection");
  if (result != SQLITE_OK) return database->Error(result, absl::StrCat("open \"", o.path, "\""));
  FIDELIO_RETURN_IF_ERROR(database->Configure());
  return database;
}

Database::~Database() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(connection_);
}

absl::Status Database::Configure() {
  // What exceeds these limits can't have been written by us: a corrupted size must not make SQLite allocate gigabytes.
  sqlite3_limit(connection_, SQLITE_LIMIT_LENGTH, static_cast<int>(kMaxBlobBytes + (int64_t{32} << 20)));
  sqlite3_db_config(connection_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(connection_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_extended_result_codes(connection_, 1);
  // EXCLUSIVE: the directory's lock keeps others out anyway, and the cache stays valid between transactions.
  const std::pair<const char*, std::string> settings[] = {{"locking_mode", "exclusive"},
                                                          {"cell_size_check", "1"},
                                                          {"mmap_size", "0"},
                                                          {"journal_mode", "truncate"},
                                                          {"synchronous", "2"},  // FULL
                                                          {"foreign_keys", "1"},
                                                          {"secure_delete", "1"},
                                                          {"temp_store", "2"},  // MEMORY
                                                          {"max_page_count", absl::StrCat(kMaxPages)},
                                                          {"cache_size", absl::StrCat(-(options_.cache_bytes >> 10))}};
  for (const auto& [name, value] : settings) {
    FIDELIO_RETURN_IF_ERROR(Execute(absl::StrCat("PRAGMA ", name, "=", value)));
    FIDELIO_ASSIGN_OR_RETURN(const std::optional<std::string> now, Pragma(name));
    // SQLite says nothing about a setting that it was compiled without: as mmap_size, which is 0 then.
    if (now.value_or("0") == value) continue;
    return absl::FailedPreconditionError(absl::StrCat("SQLite's setting ", name, " is ", now.value_or("unknown"),
                                                      ", and can't be set to ", value,
                                                      ": the store would not keep its promises"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::string>> Database::Pragma(absl::string_view name) {
  FIDELIO_RETURN_IF_ERROR(dead_);
  BeginCall();
  const std::string sql = absl::StrCat("PRAGMA ", name);
  std::optional<std::string> value;
  const auto take = [](void* out, int columns, char** values, char**) {
    if (columns > 0 && values[0] != nullptr) *static_cast<std::optional<std::string>*>(out) = values[0];
    return 0;
  };
  const int result = sqlite3_exec(connection_, sql.c_str(), take, &value, nullptr);
  if (result != SQLITE_OK) return Error(result, sql);
  return value;
}

absl::StatusOr<Statement> Database::Prepare(const char* sql) {
  FIDELIO_RETURN_IF_ERROR(dead_);
  sqlite3_stmt*& statement = statements_[sql];
  if (statement == nullptr) {
    BeginCall();
    const int result = sqlite3_prepare_v3(connection_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (result != SQLITE_OK) return Error(result, sql);
  }
  return Statement(this, statement);
}

absl::Status Database::Execute(const std::string& sql) {
  FIDELIO_RETURN_IF_ERROR(dead_);
  BeginCall();
  const int result = sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr);
  return result == SQLITE_OK ? absl::OkStatus() : Error(result, sql);
}

absl::StatusOr<int64_t> Database::Integer(const char* sql) {
  FIDELIO_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  FIDELIO_ASSIGN_OR_RETURN(const bool row, statement.Step());
  if (!row) return absl::DataLossError(absl::StrCat("\"", sql, "\" gives no row"));
  return sqlite3_column_int64(statement.get(), 0);
}

absl::Status Database::Commit() {
  absl::Status status = Execute("COMMIT");
  if (!status.ok()) Rollback();
  return status;
}

void Database::Rollback() {
  // SQLite has already rolled back after some errors. What goes wrong here comes back, as a hot journal, with the next use.
  if (sqlite3_get_autocommit(connection_) != 0) return;
  BeginCall();
  const int result = sqlite3_exec(connection_, "ROLLBACK", nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) (void)Error(result, "ROLLBACK");
}

absl::Status Database::Error(int result, absl::string_view doing) {
  const int system = vfs_->ErrnoOf(result);  // 0: not known, and then nothing is concluded from it
  const std::string cause = system == 0 ? "" : absl::StrCat(": ", strerror(system));
  const std::string text = absl::StrCat(sqlite3_errmsg(connection_), " (SQLite code ", result, ", ", doing, ")", cause);
  switch (result & 0xff) {
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(absl::StrCat("no space left for \"", options_.path, "\""));
    case SQLITE_NOMEM:
      return absl::ResourceExhaustedError(absl::StrCat("no memory left for \"", options_.path, "\""));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_TOOBIG:      // sizes are checked before writing
    case SQLITE_CONSTRAINT:  // keys are chosen so that none can be taken
    case SQLITE_MISMATCH:
    case SQLITE_ERROR:  // our SQL does not fit the schema any more
      return absl::DataLossError(text);
    case SQLITE_CANTOPEN:
      if (IsOutOfSpace(system) || system == EMFILE || system == ENFILE) {
        return absl::ResourceExhaustedError(text);
      }
      if (result == SQLITE_CANTOPEN_SYMLINK) {
        return absl::FailedPreconditionError(
            absl::StrCat("\"", options_.path, "\" is a symbolic link; it must be a file (a directory may be a link)"));
      }
      return absl::FailedPreconditionError(text);
    case SQLITE_BUSY:
      return absl::FailedPreconditionError(
          absl::StrCat("\"", options_.path, "\" is locked by another program (", text, ")"));
    case SQLITE_IOERR:
      if (result == SQLITE_IOERR_NOMEM) {
        return absl::ResourceExhaustedError(absl::StrCat("no memory left for \"", options_.path, "\""));
      }
      if (IsUnreadable(result)) return absl::DataLossError(text);
      if (!IsSync(result) && IsOutOfSpace(system)) {
        return absl::ResourceExhaustedError(absl::StrCat("no space left for \"", options_.path, "\"", cause));
      }
      break;
    default:
      break;
  }
  if (dead_.ok()) {
    dead_ = absl::UnavailableError(absl::StrCat("\"", options_.path,
                                                "\" could not be written, and its state on disk is unknown: ", text,
                                                ". Restart the server when the disk is repaired"));
    if (options_.on_fatal) options_.on_fatal(dead_);
  }
  return dead_;
}

}  // namespace fidelio
