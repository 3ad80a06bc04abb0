#include "server/store/sqlite_store.h"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "core/base/status_macros.h"
#include "server/store/backup.h"
#include "server/store/catalog.h"
#include "server/store/check.h"
#include "server/store/data_directory.h"
#include "server/store/database.h"
#include "server/store/first_page.h"
#include "server/store/migrate.h"
#include "server/store/schema.h"
#include "server/store/sqlite_transaction.h"

namespace fidelio {
namespace {

// Thread-safe: one lock for the connection and all that it reads and writes. GetModel of a healthy model needs only the
// catalog's own lock, so it never waits for a commit. Lock order: mutex_, then the catalog's.
class SqliteStore final : public Store {
 public:
  SqliteStore(std::unique_ptr<Database> database, std::function<absl::Time()> clock)
      : clock_(std::move(clock)), database_(std::move(database)) {}

  // Before the store is shared: the directory is then its own.
  void Keep(std::unique_ptr<DataDirectory> directory) { directory_ = std::move(directory); }

  absl::Status Load() {
    absl::MutexLock lock(&mutex_);
    return catalog_.Load(*database_, requests_);
  }

  absl::StatusOr<ModelRecord> GetModel(absl::string_view model) const override {
    const EntryPtr entry = catalog_.Find(model);
    if (entry != nullptr && entry->record.damage.empty()) return entry->record;
    absl::MutexLock lock(&mutex_);
    return Reader().GetModel(model);
  }

  absl::StatusOr<ModelPage> ListModels(absl::string_view prefix, absl::string_view after, int limit) const override {
    absl::MutexLock lock(&mutex_);
    return Reader().ListModels(prefix, after, limit);
  }

  absl::StatusOr<ObservationPage> ReadObservations(absl::string_view model,
                                                   const ObservationQuery& query) const override {
    absl::MutexLock lock(&mutex_);
    return Reader().ReadObservations(model, query);
  }

  absl::StatusOr<FitRecord> GetFit(absl::string_view model, int64_t fit) const override {
    absl::MutexLock lock(&mutex_);
    return Reader().GetFit(model, fit);
  }

  absl::StatusOr<FitPage> ListFits(absl::string_view model, int64_t after, int limit) const override {
    absl::MutexLock lock(&mutex_);
    return Reader().ListFits(model, after, limit);
  }

  absl::StatusOr<std::string> ReadFitState(absl::string_view model, int64_t fit) const override {
    absl::MutexLock lock(&mutex_);
    return Reader().ReadFitState(model, fit);
  }

  std::vector<UnfinishedFit> UnfinishedFits() const override {
    absl::MutexLock lock(&mutex_);
    return Reader().UnfinishedFits();
  }

  absl::StatusOr<RevisionRecord> GetRevision(absl::string_view model, int64_t revision) const override {
    absl::MutexLock lock(&mutex_);
    return Reader().GetRevision(model, revision);
  }

  absl::StatusOr<RevisionPage> ListRevisions(absl::string_view model, int64_t after, int limit) const override {
    absl::MutexLock lock(&mutex_);
    return Reader().ListRevisions(model, after, limit);
  }

  absl::StatusOr<std::vector<int64_t>> RevisionIds(absl::string_view model) const override {
    absl::MutexLock lock(&mutex_);
    return Reader().RevisionIds(model);
  }

  absl::StatusOr<std::string> ReadCheckpoint(absl::string_view model, int64_t revision) const override {
    absl::MutexLock lock(&mutex_);
    return Reader().ReadCheckpoint(model, revision);
  }

  absl::StatusOr<std::optional<RequestRecord>> FindRequest(absl::string_view model,
                                                           const RequestKey& key) const override {
    absl::MutexLock lock(&mutex_);
    return Reader().FindRequest(model, key);
  }

  absl::Status Write(absl::FunctionRef<absl::Status(StoreTransaction&)> body) override {
    absl::MutexLock lock(&mutex_);
    FIDELIO_RETURN_IF_ERROR(database_->Begin());
    absl::Cleanup undo = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      database_->Rollback();
      requests_.Rollback();
    };
    SqliteTransaction transaction(*database_, catalog_, requests_, Now());
    FIDELIO_RETURN_IF_ERROR(body(transaction));
    FIDELIO_RETURN_IF_ERROR(transaction.broken());
    FIDELIO_RETURN_IF_ERROR(database_->Commit());
    std::move(undo).Cancel();
    requests_.Commit();
    catalog_.Apply(transaction.changes(), transaction.store());
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Finding>> Check() override {
    absl::MutexLock lock(&mutex_);
    return CheckDatabase(*database_, catalog_);
  }

  absl::Status Backup(const std::string& path) override {
    std::unique_ptr<BackupJob> job;
    // The job must leave the source under the lock, however this ends.
    absl::Cleanup end = [this, &job] {
      absl::MutexLock lock(&mutex_);
      if (job != nullptr) job->EndCopy();
    };
    {
      absl::MutexLock lock(&mutex_);
      FIDELIO_RETURN_IF_ERROR(database_->dead());
      FIDELIO_ASSIGN_OR_RETURN(job, BackupJob::Start(*database_, path));
    }
    for (bool done = false; !done;) {
      absl::MutexLock lock(&mutex_);
      FIDELIO_ASSIGN_OR_RETURN(done, job->Step());
    }
    std::move(end).Invoke();
    return job->Finish();
  }

 private:
  SqliteTransaction Reader() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return SqliteTransaction(*database_, catalog_, requests_, Now());
  }

  // In the precision of rows: what a transaction answers is what will be read.
  absl::Time Now() const { return absl::FromUnixMicros(absl::ToUnixMicros(clock_())); }

  std::unique_ptr<DataDirectory> directory_;  // goes last, with its lock
  const std::function<absl::Time()> clock_;
  mutable Catalog catalog_;  // thread-safe by itself; changed only under mutex_
  mutable absl::Mutex mutex_;
  const std::unique_ptr<Database> database_ ABSL_PT_GUARDED_BY(mutex_);
  mutable RequestIndex requests_ ABSL_GUARDED_BY(mutex_);
};

absl::Status Prepare(Database& database, const std::string& path, absl::Time now) {
  FIDELIO_RETURN_IF_ERROR(CreateSchema(database, now));
  FIDELIO_RETURN_IF_ERROR(VerifySchema(database));
  return VerifySize(database, path);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(SqliteStoreOptions options) {
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<DataDirectory> directory, DataDirectory::Open(options.directory));
  // Without symbolic links: SQLite refuses them, and only the file itself must not be one.
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::canonical(options.directory, error);
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrCat("can't resolve the data directory \"", options.directory, "\": ", error.message()));
  }
  const std::string path = (resolved / kDatabaseFile).string();
  if (access(path.c_str(), F_OK) == 0 && access(path.c_str(), R_OK | W_OK) != 0) {
    return absl::FailedPreconditionError(absl::StrCat("\"", path, "\" is not readable and writable for this user"));
  }
  const auto open = [&]() -> absl::StatusOr<std::unique_ptr<SqliteStore>> {
    FIDELIO_ASSIGN_OR_RETURN(const Migration migration, MigrateFile(path, options.vfs));
    if (migration.from > 0) {
      options.on_repair(absl::StrCat(
          "\"", path, "\" was migrated from format version ", migration.from, " to ", kFormatVersion,
          migration.damaged ? absl::StrCat("; it was damaged, and is kept as \"", KeptFile(path), "\"") : ""));
    }
    FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<Database> database,
                             Database::Open({path, options.vfs, options.cache_bytes, options.on_fatal}));
    FIDELIO_RETURN_IF_ERROR(Prepare(*database, path, options.clock()));
    auto store = std::make_unique<SqliteStore>(std::move(database), options.clock);
    FIDELIO_RETURN_IF_ERROR(store->Load());
    return store;
  };
  absl::StatusOr<std::unique_ptr<SqliteStore>> store = open();
  if (absl::IsDataLoss(store.status())) {
    const absl::StatusOr<int> restored = RestoreFirstPage(path, options.vfs);
    if (restored.ok() && *restored > 0) {
      options.on_repair(absl::StrCat("\"", path, "\": ", *restored, " damaged bytes of the first page were restored (",
                                     store.status().message(), ")"));
      store = open();
    }
  }
  if (!store.ok()) {
    const absl::Status& s = store.status();
    // Of the way out of other errors, their own text speaks.
    const absl::string_view advice =
        absl::IsDataLoss(s) ? ". All models need these bytes: restore a backup (fidelio.db of a --backup)" : "";
    return absl::Status(s.code(), absl::StrCat("\"", path, "\": ", s.message(), advice));
  }
  (*store)->Keep(std::move(directory));
  return store;
}

}  // namespace fidelio
