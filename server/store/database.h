// Database, Statement: one SQLite connection with the settings of the store, and absl::Status instead of result codes.
//
// Which code a failure gets (FORMAT.md, "Failures"):
//   RESOURCE_EXHAUSTED  no space, quota, file-size limit, memory: nothing happened, later calls may succeed
//   DATA_LOSS           corruption, unreadable sectors, and broken constraints, which only corruption can break
//   UNAVAILABLE         a sync or write failed otherwise: what is on disk is unknown. The connection is dead from then on,
//                       since the kernel may report a failed sync only once; on_fatal is called, once.
// Not thread-safe: SqliteStore guards it.
#ifndef FIDELIO_SERVER_STORE_DATABASE_H_
#define FIDELIO_SERVER_STORE_DATABASE_H_

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/store/scrub_vfs.h"

namespace fidelio {

class Database;

// A prepared statement, borrowed from the database that keeps it; reset when it goes out of scope. What is bound must live
// until then. One Statement per SQL text at a time.
class Statement {
 public:
  Statement(Database* database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Parameters count from 1. The first that fails is reported by Step.
  void BindInt(int parameter, int64_t value);
  void BindText(int parameter, absl::string_view value);
  void BindBlob(int parameter, absl::string_view value);
  void BindNull(int parameter);

  absl::StatusOr<bool> Step();  // true: a row; false: done
  absl::Status Run();           // steps until done

  sqlite3_stmt* get() const { return statement_; }

 private:
  Database* database_;
  sqlite3_stmt* statement_;
  int bind_result_ = SQLITE_OK;
};

class Database {
 public:
  struct Options {
    std::string path;
    std::string vfs;
    int64_t cache_bytes = 0;
    std::function<void(const absl::Status&)> on_fatal;
  };

  // Opens or makes the file, for its owner alone, and applies the settings of FORMAT.md, "Settings"; FAILED_PRECONDITION
  // when one of them does not hold then.
  static absl::StatusOr<std::unique_ptr<Database>> Open(Options options);
  ~Database();

  absl::StatusOr<Statement> Prepare(const char* sql);  // `sql` is a literal: its address is the key of the cache
  absl::Status Execute(const std::string& sql);        // any number of statements, without results
  absl::StatusOr<int64_t> Integer(const char* sql);    // the first column of the first row
  int64_t Changes() const { return sqlite3_changes64(connection_); }

  absl::Status Begin() { return Execute("BEGIN IMMEDIATE"); }
  absl::Status Commit();
  void Rollback();

  // To be called before a call of SQLite whose failure goes to Error.
  void BeginCall() { vfs_->Forget(); }
  absl::Status Error(int result, absl::string_view doing);
  const absl::Status& dead() const { return dead_; }
  sqlite3* connection() const { return connection_; }
  const char* vfs() const { return vfs_->name(); }

 private:
  explicit Database(Options options) : options_(std::move(options)) {}
  absl::Status Configure();
  absl::StatusOr<std::optional<std::string>> Pragma(absl::string_view name);  // its value; nothing when there is none

  Options options_;
  std::unique_ptr<ScrubVfs> vfs_;  // outlives the connection
  sqlite3* connection_ = nullptr;
  absl::Status dead_;  // not OK: why
  absl::flat_hash_map<const char*, sqlite3_stmt*> statements_;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_DATABASE_H_
