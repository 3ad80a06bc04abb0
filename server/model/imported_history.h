// ImportedHistory: checks that the observations of a file fit together as they arrive: which rows there are, which are
// withdrawn, and which run_ids are in use.
//
// Not thread-safe: it belongs to one import.
#ifndef FIDELIO_SERVER_MODEL_IMPORTED_HISTORY_H_
#define FIDELIO_SERVER_MODEL_IMPORTED_HISTORY_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "server/model/codec.h"
#include "server/model/transfer_format.h"

namespace fidelio {

class ImportedHistory {
 public:
  explicit ImportedHistory(size_t levels) : in_use_(levels, 0) {}

  // The next part; its block has the shape that its model demands. INVALID_ARGUMENT says what can't be.
  absl::Status Add(const FileObservations& part);

  int64_t data_version() const { return version_; }
  int64_t rows() const { return rows_; }                          // of all parts
  const std::vector<int64_t>& in_use() const { return in_use_; }  // per level
  const std::vector<WithdrawnCount>& withdrawn() const { return withdrawn_; }

 private:
  struct Block {
    int level = 0;
    std::vector<bool> gone = {};  // one per row
    std::vector<std::string> run_ids = {};
  };

  absl::Status Withdraw(const WithdrawnRows& withdrawn);
  absl::Status AddIds(const ObservationBlock& block);

  int64_t version_ = 0;
  int part_ = 0;           // parts of the version so far
  bool corrects_ = false;  // the version replaces what it withdraws
  int64_t rows_ = 0;
  std::vector<int64_t> in_use_;
  std::vector<WithdrawnCount> withdrawn_;
  std::map<std::pair<int64_t, int>, Block> blocks_;
  absl::flat_hash_set<std::string> run_ids_;  // in use
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_IMPORTED_HISTORY_H_
