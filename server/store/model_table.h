// The tables `store`, `names` and `models`: what exists, and how much of it (FORMAT.md).
#ifndef FIDELIO_SERVER_STORE_MODEL_TABLE_H_
#define FIDELIO_SERVER_STORE_MODEL_TABLE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/store/database.h"
#include "server/store/records.h"

namespace fidelio {

// The only row of table `store`.
struct StoreRow {
  int64_t next_model = 1;  // the next model's number; numbers are never used again
  int64_t models = 0;      // how many there are
  // The requests about models that are gone, numbered like those of a model.
  int64_t first_request = 1;
  int64_t next_request = 1;
  absl::Time created = absl::UnixEpoch();
};

// A row of table `models`.
struct ModelEntry {
  int64_t id = 0;
  ModelRecord record = {};
  std::vector<int64_t> open_fits = {};  // ids of the unfinished fits, ascending
  // Its request records are first_request … next_request − 1.
  int64_t first_request = 1;
  int64_t next_request = 1;
};

absl::Status InsertStoreRow(Database& database, const StoreRow& row);
absl::Status UpdateStoreRow(Database& database, const StoreRow& row);
absl::StatusOr<StoreRow> ReadStoreRow(Database& database);

absl::Status InsertModelRow(Database& database, const ModelEntry& entry);  // into `names`, too
absl::Status UpdateModelRow(Database& database, const ModelEntry& entry);
absl::Status DeleteModelRow(Database& database, int64_t id);  // from `names`, too; no matter whether they are there

// All names and models, as far as they can be read. A row that can't be read is replaced by a finding in `findings`.
std::map<int64_t, std::string> ReadNames(Database& database, std::vector<std::string>& findings);
std::map<int64_t, ModelEntry> ReadModels(Database& database, std::vector<std::string>& findings);
absl::StatusOr<ModelEntry> ReadModel(Database& database, int64_t id);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_MODEL_TABLE_H_
