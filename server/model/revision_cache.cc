#include "server/model/revision_cache.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace fidelio {

absl::StatusOr<RevisionCache::Revision> RevisionCache::Get(const Key& key, absl::Time deadline,
                                                           absl::FunctionRef<absl::StatusOr<Revision>()> load) {
  std::shared_ptr<Flight> flight;
  bool mine = false;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = places_.find(key);
    if (metrics_ != nullptr) metrics_->RecordCacheLookup(found != places_.end());
    if (found != places_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->revision;
    }
    std::shared_ptr<Flight>& place = flights_[key];
    if (place == nullptr) {
      place = std::make_shared<Flight>();
      mine = true;
    }
    flight = place;
  }
  if (!mine) {
    absl::MutexLock lock(&flight->mutex);
    if (!flight->mutex.AwaitWithDeadline(absl::Condition(&flight->done), deadline)) {
      return absl::DeadlineExceededError(
          absl::StrCat("revision ", key.second, " was still being loaded when the deadline passed"));
    }
    return flight->result;
  }
  absl::StatusOr<Revision> result = load();
  {
    absl::MutexLock lock(&mutex_);
    // EraseModel and Insert take the flight away: what was loaded is then outdated, or there already.
    const auto found = flights_.find(key);
    if (found != flights_.end() && found->second == flight) {
      flights_.erase(found);
      if (result.ok()) InsertLocked(key, *result);
    }
  }
  absl::MutexLock lock(&flight->mutex);
  flight->result = result;
  flight->done = true;
  return result;
}

RevisionCache::Revision RevisionCache::Peek(const Key& key) const {
  absl::MutexLock lock(&mutex_);
  const auto found = places_.find(key);
  return found == places_.end() ? nullptr : found->second->revision;
}

void RevisionCache::Insert(const Key& key, Revision revision) {
  absl::MutexLock lock(&mutex_);
  flights_.erase(key);
  InsertLocked(key, std::move(revision));
}

void RevisionCache::InsertLocked(const Key& key, Revision revision) {
  if (const auto found = places_.find(key); found != places_.end()) Remove(found->second);
  bytes_ += revision->bytes();
  entries_.push_front({key, std::move(revision)});
  places_[key] = entries_.begin();
  while (bytes_ > capacity_ && entries_.size() > 1) {
    Remove(std::prev(entries_.end()));
    if (metrics_ != nullptr) metrics_->RecordCacheEviction();
  }
  Report();
}

void RevisionCache::Remove(std::list<Entry>::iterator at) {
  bytes_ -= at->revision->bytes();
  places_.erase(at->key);
  entries_.erase(at);
}

void RevisionCache::Erase(const Key& key) {
  absl::MutexLock lock(&mutex_);
  if (const auto found = places_.find(key); found != places_.end()) Remove(found->second);
  flights_.erase(key);
  Report();
}

void RevisionCache::EraseModel(int64_t uid) {
  absl::MutexLock lock(&mutex_);
  for (auto at = entries_.begin(); at != entries_.end();) {
    const auto next = std::next(at);
    if (at->key.first == uid) Remove(at);
    at = next;
  }
  absl::erase_if(flights_, [uid](const auto& flight) { return flight.first.first == uid; });
  Report();
}

void RevisionCache::Report() const {
  if (metrics_ != nullptr) metrics_->SetCache(bytes_, static_cast<int64_t>(entries_.size()));
}

int64_t RevisionCache::bytes() const {
  absl::MutexLock lock(&mutex_);
  return bytes_;
}

int64_t RevisionCache::size() const {
  absl::MutexLock lock(&mutex_);
  return static_cast<int64_t>(entries_.size());
}

}  // namespace fidelio
