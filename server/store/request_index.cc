#include "server/store/request_index.h"

#include <limits>

#include "absl/strings/str_cat.h"

namespace fidelio {
namespace {

// The length keeps ("a", "bc") and ("ab", "c") apart.
std::string Joined(const RequestKey& key) {
  return absl::StrCat(key.principal.size(), " ", key.principal, key.request_id);
}

}  // namespace

std::optional<RequestIndex::Place> RequestIndex::Find(const RequestKey& key) const {
  const auto found = places_.find(Joined(key));
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

void RequestIndex::Add(const RequestKey& key, Place place, absl::Time time) {
  Put(place, {Joined(key), time});
  undo_.push_back({true, place, {}});
}

void RequestIndex::Remove(Place place) { undo_.push_back({false, place, Take(place)}); }

std::vector<RequestIndex::Place> RequestIndex::Of(int64_t model) const {
  std::vector<Place> places;
  for (auto it = entries_.lower_bound({model, std::numeric_limits<int64_t>::min()});
       it != entries_.end() && it->first.first == model; ++it) {
    places.push_back(it->first);
  }
  return places;
}

std::vector<std::pair<absl::Time, RequestIndex::Place>> RequestIndex::Oldest() const {
  std::vector<std::pair<absl::Time, Place>> oldest;
  for (auto it = entries_.begin(); it != entries_.end();) {
    oldest.emplace_back(it->second.time, it->first);
    it = entries_.lower_bound({it->first.first + 1, std::numeric_limits<int64_t>::min()});
  }
  return oldest;
}

std::optional<std::pair<absl::Time, RequestIndex::Place>> RequestIndex::After(Place place) const {
  const auto it = entries_.upper_bound(place);
  if (it == entries_.end() || it->first.first != place.first) return std::nullopt;
  return std::pair(it->second.time, it->first);
}

void RequestIndex::Rollback() {
  for (auto change = undo_.rbegin(); change != undo_.rend(); ++change) {
    if (change->added) {
      (void)Take(change->place);
    } else {
      Put(change->place, std::move(change->entry));
    }
  }
  undo_.clear();
}

void RequestIndex::Put(Place place, Entry entry) {
  places_[entry.key] = place;
  entries_[place] = std::move(entry);
}

RequestIndex::Entry RequestIndex::Take(Place place) {
  const auto it = entries_.find(place);
  Entry entry = std::move(it->second);
  entries_.erase(it);
  places_.erase(entry.key);
  return entry;
}

}  // namespace fidelio
