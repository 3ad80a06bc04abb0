// The table `requests`: answers to mutations, so that a retry gets the first answer (FORMAT.md, S11).
//
// Records are numbered per model; those of models that are gone belong to model number 0 (kNoModel).
#ifndef FIDELIO_SERVER_STORE_REQUEST_TABLE_H_
#define FIDELIO_SERVER_STORE_REQUEST_TABLE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/store/database.h"
#include "server/store/records.h"

namespace fidelio {

inline constexpr int64_t kNoModel = 0;

struct RequestRow {
  int64_t model = kNoModel;
  int64_t seq = 0;
  RequestKey key = {};
  RequestRecord record = {};
};

absl::Status InsertRequest(Database& database, const RequestRow& row);
absl::StatusOr<RequestRow> ReadRequest(Database& database, int64_t model, int64_t seq);
absl::Status DeleteRequest(Database& database, int64_t model, int64_t seq);

// Appends the model's records that can be read to `rows`. Not OK when one of first … next − 1 could not.
absl::Status ReadRequests(Database& database, int64_t model, int64_t first, int64_t next,
                          std::vector<RequestRow>& rows);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_REQUEST_TABLE_H_
