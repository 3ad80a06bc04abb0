// The tables `fits` and `fit_states`: jobs, and what an unfinished one resumes from (FORMAT.md, S7 and S8).
#ifndef FIDELIO_SERVER_STORE_FIT_TABLE_H_
#define FIDELIO_SERVER_STORE_FIT_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/store/database.h"
#include "server/store/model_table.h"
#include "server/store/records.h"

namespace fidelio {

struct FitRow {
  FitRecord record = {};
  // Of the row in fit_states, so that a lost one is noticed; meaningless without record.has_saved_state.
  int64_t state_bytes = 0;
  int64_t state_crc = 0;
};

absl::Status InsertFit(Database& database, int64_t model, const FitRow& row);
absl::Status UpdateFitRow(Database& database, int64_t model, const FitRow& row);
absl::StatusOr<FitRow> ReadFit(Database& database, const ModelEntry& model, int64_t fit);
absl::StatusOr<std::vector<FitRow>> ReadFits(Database& database, const ModelEntry& model, int64_t after, int limit);

// Saves the state of a fit and notes it in `row`, which is then to be written.
absl::Status SaveFitState(Database& database, int64_t model, absl::string_view state, FitRow& row);
absl::Status DropFitState(Database& database, int64_t model, FitRow& row);
absl::StatusOr<std::string> LoadFitState(Database& database, int64_t model, const FitRow& row);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_FIT_TABLE_H_
