// RequestIndex: which requests are recorded, and where. All of them are in memory: whether a key is new must not depend on a
// search that a flipped bit on disk can mislead.
//
// Changes belong to a transaction: Commit keeps them, Rollback takes them back. Not thread-safe.
#ifndef FIDELIO_SERVER_STORE_REQUEST_INDEX_H_
#define FIDELIO_SERVER_STORE_REQUEST_INDEX_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "server/store/records.h"

namespace fidelio {

class RequestIndex {
 public:
  using Place = std::pair<int64_t, int64_t>;  // model number, seq

  std::optional<Place> Find(const RequestKey& key) const;
  void Add(const RequestKey& key, Place place, absl::Time time);
  void Remove(Place place);

  // The places of a model's records, ascending.
  std::vector<Place> Of(int64_t model) const;
  // The first place of every model that has records, with its time.
  std::vector<std::pair<absl::Time, Place>> Oldest() const;
  // The place after `place` of the same model, with its time.
  std::optional<std::pair<absl::Time, Place>> After(Place place) const;
  int64_t size() const { return static_cast<int64_t>(places_.size()); }

  void Commit() { undo_.clear(); }
  void Rollback();

 private:
  struct Entry {
    std::string key;
    absl::Time time;
  };
  struct Change {
    bool added;
    Place place;
    Entry entry;
  };
  void Put(Place place, Entry entry);
  Entry Take(Place place);

  absl::flat_hash_map<std::string, Place> places_;
  absl::btree_map<Place, Entry> entries_;
  std::vector<Change> undo_ = {};
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_REQUEST_INDEX_H_
