#include "server/store/migrate.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/base/status_macros.h"
#include "server/store/data_directory.h"
#include "server/store/database.h"
#include "server/store/observation_table.h"
#include "server/store/schema.h"

namespace fidelio {
namespace {

constexpr int64_t kCacheBytes = int64_t{16} << 20;

absl::StatusOr<std::unique_ptr<Database>> OpenForMigration(const std::string& path, const std::string& vfs) {
  return Database::Open({path, vfs, kCacheBytes, /*on_fatal=*/nullptr});
}

// What is missing is noticed when it is read; all other failures end the migration.
absl::Status UnlessLost(const absl::Status& status, bool& lost) {
  if (!absl::IsDataLoss(status)) return status;
  lost = true;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int64_t>> ModelIds(Database& database) {
  FIDELIO_ASSIGN_OR_RETURN(Statement statement,
                           database.Prepare("SELECT id FROM old.models UNION SELECT id FROM old.names"));
  std::vector<int64_t> ids;
  while (true) {
    FIDELIO_ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row) return ids;
    ids.push_back(sqlite3_column_int64(statement.get(), 0));
  }
}

// Version 1 has other observations: without run_ids, and all of them in use. Everything else is the same.
absl::Status CopyVersion1(Database& database, bool& lost) {
  for (const char* sql :
       {"INSERT INTO store SELECT * FROM old.store", "INSERT INTO models SELECT * FROM old.models",
        "INSERT INTO names SELECT * FROM old.names", "INSERT INTO requests SELECT * FROM old.requests"}) {
    FIDELIO_RETURN_IF_ERROR(database.Execute(sql));
  }
  FIDELIO_ASSIGN_OR_RETURN(const std::vector<int64_t> models, ModelIds(database));
  for (const int64_t model : models) {
    for (const char* sql : {"INSERT INTO fits SELECT * FROM old.fits WHERE model=?1",
                            "INSERT INTO fit_states SELECT * FROM old.fit_states WHERE model=?1",
                            "INSERT INTO revisions SELECT * FROM old.revisions WHERE model=?1",
                            "INSERT INTO checkpoints SELECT * FROM old.checkpoints WHERE model=?1"}) {
      FIDELIO_ASSIGN_OR_RETURN(Statement statement, database.Prepare(sql));
      statement.BindInt(1, model);
      FIDELIO_RETURN_IF_ERROR(UnlessLost(statement.Run(), lost));
    }
    FIDELIO_RETURN_IF_ERROR(UnlessLost(CopyObservationsOfVersion1(database, model), lost));
  }
  return absl::OkStatus();
}

absl::Status CopyInto(const std::string& copy, const std::string& path, const std::string& vfs, bool& lost) {
  FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForMigration(copy, vfs));
  // Children of a model whose own row is lost are copied, too.
  FIDELIO_RETURN_IF_ERROR(database->Execute("PRAGMA foreign_keys=OFF"));
  FIDELIO_RETURN_IF_ERROR(
      database->Execute(absl::StrCat("ATTACH '", absl::StrReplaceAll(path, {{"'", "''"}}), "' AS old")));
  FIDELIO_RETURN_IF_ERROR(database->Execute("BEGIN"));
  FIDELIO_RETURN_IF_ERROR(CreateTables(*database, kFormatVersion));
  FIDELIO_RETURN_IF_ERROR(CopyVersion1(*database, lost));
  return database->Commit();
}

}  // namespace

absl::StatusOr<Migration> MigrateFile(const std::string& path, const std::string& vfs) {
  const std::string copy = path + "-migrating";
  const auto remove = [&copy] {
    std::error_code ignored;
    std::filesystem::remove(copy, ignored);
    std::filesystem::remove(copy + "-journal", ignored);
  };
  remove();  // what a crash has left
  if (access(path.c_str(), F_OK) != 0) return Migration{};
  {
    // Recovers the file, if its last use ended in a crash.
    FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForMigration(path, vfs));
    FIDELIO_ASSIGN_OR_RETURN(const int64_t version, database->Integer("PRAGMA user_version"));
    if (version != 1) return Migration{};
    FIDELIO_RETURN_IF_ERROR(VerifySchema(*database, 1));
    FIDELIO_RETURN_IF_ERROR(VerifySize(*database, path));
  }
  const absl::Cleanup end = remove;
  bool lost = false;
  if (const absl::Status status = CopyInto(copy, path, vfs, lost); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat("the migration from format version 1 to ", kFormatVersion,
                                                    " failed, and the file is as it was: ", status.message()));
  }
  // A damaged file may hold more than was copied.
  if (lost) {
    const std::string kept = KeptFile(path);
    if (link(path.c_str(), kept.c_str()) != 0 && errno != EEXIST) {
      return absl::DataLossError(absl::StrCat("the file is damaged, and can't be kept as \"", kept,
                                              "\" while it is migrated: ", strerror(errno)));
    }
  }
  std::error_code error;
  std::filesystem::rename(copy, path, error);
  if (error) return absl::UnavailableError(absl::StrCat("can't replace \"", path, "\": ", error.message()));
  FIDELIO_RETURN_IF_ERROR(SyncPath(std::filesystem::path(path).parent_path().string()));
  return Migration{.from = 1, .damaged = lost};
}

}  // namespace fidelio
