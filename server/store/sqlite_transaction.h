// SqliteTransaction: all operations of the store, within the transaction that SqliteStore has begun (or, for a read, in
// none). Its changes of the catalog are applied by SqliteStore once they are committed.
//
// Not thread-safe. Lives under SqliteStore's lock of the database.
#ifndef FIDELIO_SERVER_STORE_SQLITE_TRANSACTION_H_
#define FIDELIO_SERVER_STORE_SQLITE_TRANSACTION_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/store/catalog.h"
#include "server/store/database.h"
#include "server/store/fit_table.h"
#include "server/store/request_index.h"
#include "server/store/request_table.h"
#include "server/store/store.h"

namespace fidelio {

class SqliteTransaction final : public StoreTransaction {
 public:
  SqliteTransaction(Database& database, Catalog& catalog, RequestIndex& requests, absl::Time now)
      : database_(database), catalog_(catalog), requests_(requests), now_(now), store_(catalog.store()) {}

  absl::StatusOr<ModelRecord> GetModel(absl::string_view model) const override;
  absl::StatusOr<ModelPage> ListModels(absl::string_view prefix, absl::string_view after, int limit) const override;
  absl::StatusOr<ObservationPage> ReadObservations(absl::string_view model,
                                                   const ObservationQuery& query) const override;
  absl::StatusOr<FitRecord> GetFit(absl::string_view model, int64_t fit) const override;
  absl::StatusOr<FitPage> ListFits(absl::string_view model, int64_t after, int limit) const override;
  absl::StatusOr<std::string> ReadFitState(absl::string_view model, int64_t fit) const override;
  std::vector<UnfinishedFit> UnfinishedFits() const override;
  absl::StatusOr<RevisionRecord> GetRevision(absl::string_view model, int64_t revision) const override;
  absl::StatusOr<RevisionPage> ListRevisions(absl::string_view model, int64_t after, int limit) const override;
  absl::StatusOr<std::vector<int64_t>> RevisionIds(absl::string_view model) const override;
  absl::StatusOr<std::string> ReadCheckpoint(absl::string_view model, int64_t revision) const override;
  absl::StatusOr<std::optional<RequestRecord>> FindRequest(absl::string_view model,
                                                           const RequestKey& key) const override;

  absl::StatusOr<ModelRecord> CreateModel(absl::string_view model, absl::string_view spec) override;
  absl::StatusOr<ModelRecord> UpdateModel(absl::string_view model, int64_t etag, absl::string_view spec) override;
  absl::Status DeleteModel(absl::string_view model, int64_t etag) override;
  absl::StatusOr<int64_t> AppendObservations(absl::string_view model,
                                             absl::Span<const ObservationBlock> batch) override;
  absl::StatusOr<int64_t> WithdrawObservations(absl::string_view model, const WithdrawnRows& withdrawn,
                                               absl::Span<const ObservationBlock> batch) override;
  absl::StatusOr<FitRecord> CreateFit(absl::string_view model, absl::string_view options) override;
  absl::StatusOr<FitRecord> UpdateFit(absl::string_view model, int64_t fit, const FitChange& change) override;
  absl::StatusOr<RevisionRecord> AddRevision(absl::string_view model, absl::string_view metadata,
                                             absl::string_view checkpoint) override;
  absl::StatusOr<ModelRecord> SetCurrentRevision(absl::string_view model, int64_t etag, int64_t revision) override;
  absl::Status DeleteRevision(absl::string_view model, int64_t etag, int64_t revision) override;
  absl::Status RecordRequest(absl::string_view model, const RequestKey& key, absl::string_view digest,
                             absl::string_view answer) override;
  absl::StatusOr<int64_t> PruneRequests(absl::Time before, int64_t keep) override;

  // The first failure of the database, after which nothing may be committed.
  const absl::Status& broken() const { return broken_; }
  const CatalogChanges& changes() const { return changes_; }
  const StoreRow& store() const { return store_; }

 private:
  // The model as this transaction sees it; Find answers DATA_LOSS for a quarantined one.
  EntryPtr Look(absl::string_view model) const;
  absl::StatusOr<EntryPtr> Find(absl::string_view model) const;
  std::vector<EntryPtr> ListEntries(absl::string_view prefix, absl::string_view after, size_t limit) const;

  // A failure of the database while it worked on `model`: breaks the transaction, and quarantines the model if its data
  // are lost.
  absl::Status Failed(absl::string_view model, const absl::Status& status) const;
  absl::Status Checked(absl::string_view model, const absl::Status& status) const;

  absl::Status Put(const ModelEntry& entry);  // writes the model's row
  absl::Status PutStore(const StoreRow& row);
  absl::StatusOr<int64_t> PutVersion(absl::string_view model, const WithdrawnRows* withdrawn,
                                     absl::Span<const ObservationBlock> batch);
  absl::Status EraseRequests(const ModelEntry& entry);
  absl::Status DeleteRows(const ModelEntry& entry);

  Database& database_;
  Catalog& catalog_;
  RequestIndex& requests_;
  const absl::Time now_;
  StoreRow store_;
  CatalogChanges changes_;
  mutable absl::Status broken_;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_SQLITE_TRANSACTION_H_
