// What became of stored observations: which rows are in use, which were withdrawn or corrected, and what their ids are.
//
// The store keeps every row for ever; versions of the data take rows out of use (server/store/records.h). Values and free
// functions without state: safe to share between threads.
#ifndef FIDELIO_SERVER_MODEL_OBSERVATION_HISTORY_H_
#define FIDELIO_SERVER_MODEL_OBSERVATION_HISTORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/model/codec.h"
#include "server/model/model_types.h"
#include "server/store/store.h"

namespace fidelio {

// Calls visit(part) for the parts of the query, in order, until it returns false.
absl::Status ForEachPart(const StoreReader& store, absl::string_view model, ObservationQuery query,
                         absl::FunctionRef<bool(const StoredBlock&)> visit);

// Rows that are no longer in use.
class WithdrawnSet {
 public:
  // Those that versions up to `version` took out of use, read from the store; `counts` says which versions did.
  static absl::StatusOr<WithdrawnSet> Read(const StoreReader& store, absl::string_view model,
                                           const std::vector<WithdrawnCount>& counts, int64_t version);

  void Add(const StoredBlock& part);  // of kind `withdrawn`
  bool empty() const { return ranges_.empty(); }

  // Calls visit(first, count, withdrawal) for the rows [begin, end) of a block in order, in runs of the same fate;
  // withdrawal is null for rows in use.
  void ForEachRun(const StoredBlock& block, int64_t begin, int64_t end,
                  absl::FunctionRef<void(int64_t first, int64_t count, const Withdrawal* withdrawal)> visit) const;

 private:
  struct Range {
    int64_t first = 0;
    int64_t count = 0;
    std::shared_ptr<const Withdrawal> withdrawal = {};
  };
  std::map<std::pair<int64_t, int>, std::vector<Range>> ranges_;  // by (data_version, part), ascending
};

// The id of a row: the client's, or `{data_version}-{i}` with i from 1 within the version.
std::string RunIdOf(const StoredBlock& block, int64_t row);
// Whether an id has the form of those that the service makes.
bool IsMadeRunId(absl::string_view id);

// Which of the observations that are in use at data_version `known` are no longer in use at the newest of `model`: for each
// fidelity, in the order in which they were added.
absl::StatusOr<std::vector<std::vector<bool>>> ReadWithdrawnSince(const StoreReader& store, const ModelRecord& model,
                                                                  const StoredSpec& stored, int64_t known);

// Number of observations that were added up to data_version `known` and are no longer in use.
int64_t WithdrawnSince(const std::vector<WithdrawnCount>& counts, int64_t known);
// The same of the revision that `model` serves; 0 when it serves none.
absl::StatusOr<int64_t> WithdrawnOfCurrentRevision(const StoreReader& store, const ModelRecord& model,
                                                   const std::vector<WithdrawnCount>& counts);
// `counts` and what a new version `at` withdraws.
void AddWithdrawn(const std::vector<RowRange>& rows, int64_t at, std::vector<WithdrawnCount>& counts);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_OBSERVATION_HISTORY_H_
