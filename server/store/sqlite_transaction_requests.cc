#include <functional>
#include <map>
#include <queue>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/store/request_table.h"
#include "server/store/sqlite_transaction.h"

namespace fidelio {

absl::StatusOr<std::optional<RequestRecord>> SqliteTransaction::FindRequest(absl::string_view model,
                                                                            const RequestKey& key) const {
  const std::optional<RequestIndex::Place> place = requests_.Find(key);
  if (!place) {
    // A lost record might have been this one's: of its model, or of one that is gone.
    const EntryPtr entry = Look(model);
    const std::string damage = entry != nullptr ? entry->record.damage : catalog_.orphan_requests_damage();
    if (damage.empty()) return std::nullopt;
    return absl::DataLossError(absl::StrCat("request_id: whether \"", key.request_id, "\" is new can't be known: ",
                                            "records of requests about model \"", model, "\" were lost: ", damage));
  }
  absl::StatusOr<RequestRow> row = ReadRequest(database_, place->first, place->second);
  if (row.ok() && (row->key.principal != key.principal || row->key.request_id != key.request_id)) {
    row = absl::DataLossError(absl::StrCat("record ", place->second, " of a request is of another one"));
  }
  if (row.ok()) return std::move(row->record);
  if (place->first == kNoModel) {
    if (absl::IsDataLoss(row.status())) catalog_.QuarantineOrphanRequests(row.status().message());
    if (broken_.ok()) broken_ = row.status();
    return row.status();
  }
  for (const EntryPtr& entry : ListEntries("", "", static_cast<size_t>(store_.models))) {
    if (entry->id == place->first) return Failed(entry->record.name, row.status());
  }
  return Failed(model, row.status());
}

absl::Status SqliteTransaction::RecordRequest(absl::string_view model, const RequestKey& key, absl::string_view digest,
                                              absl::string_view answer) {
  if (static_cast<int64_t>(answer.size()) > kMaxBlobBytes) {
    return absl::InvalidArgumentError(absl::StrCat("answer: ", answer.size(), " bytes; the most is ", kMaxBlobBytes));
  }
  if (requests_.Find(key)) {
    return absl::AlreadyExistsError(absl::StrCat("request_id: \"", key.request_id, "\" is recorded already"));
  }
  RequestRow row{.key = key, .record = {.digest = std::string(digest), .answer = std::string(answer), .time = now_}};
  const auto changed = changes_.find(model);
  if (changed != changes_.end() && changed->second == nullptr) {  // deleted in this transaction
    StoreRow store = store_;
    row.seq = store.next_request++;
    FIDELIO_RETURN_IF_ERROR(PutStore(store));
  } else {
    FIDELIO_ASSIGN_OR_RETURN(const EntryPtr found, Find(model));
    ModelEntry entry = *found;
    row.model = entry.id;
    row.seq = entry.next_request++;
    FIDELIO_RETURN_IF_ERROR(Put(entry));
  }
  FIDELIO_RETURN_IF_ERROR(Checked(model, InsertRequest(database_, row)));
  requests_.Add(key, {row.model, row.seq}, now_);
  return absl::OkStatus();
}

absl::Status SqliteTransaction::EraseRequests(const ModelEntry& entry) {
  StoreRow store = store_;
  for (const RequestIndex::Place& place : requests_.Of(entry.id)) {
    const absl::StatusOr<RequestRow> read = ReadRequest(database_, place.first, place.second);
    requests_.Remove(place);
    if (absl::IsDataLoss(read.status())) continue;  // the model is being deleted because it is damaged
    FIDELIO_RETURN_IF_ERROR(read.status());
    // Its time becomes that of the deletion, so that records stay in the order of their times.
    const RequestRow row{.model = kNoModel,
                         .seq = store.next_request++,
                         .key = read->key,
                         .record = {.digest = read->record.digest, .answer = "", .erased = true, .time = now_}};
    FIDELIO_RETURN_IF_ERROR(InsertRequest(database_, row));
    requests_.Add(row.key, {row.model, row.seq}, now_);
  }
  return PutStore(store);
}

absl::StatusOr<int64_t> SqliteTransaction::PruneRequests(absl::Time before, int64_t keep) {
  using Head = std::pair<absl::Time, RequestIndex::Place>;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  std::map<int64_t, EntryPtr> models;
  for (const EntryPtr& entry : ListEntries("", "", static_cast<size_t>(store_.models))) models[entry->id] = entry;
  for (const Head& head : requests_.Oldest()) {
    // What is left of a quarantined model stays as it is.
    const auto model = models.find(head.second.first);
    if (model == models.end() || model->second->record.damage.empty()) heads.push(head);
  }
  std::map<int64_t, int64_t> first;  // per model: what is left begins here
  int64_t count = 0;
  while (!heads.empty() && (heads.top().first < before || requests_.size() > keep)) {
    const RequestIndex::Place place = heads.top().second;
    heads.pop();
    const std::optional<Head> next = requests_.After(place);
    if (const absl::Status status = DeleteRequest(database_, place.first, place.second); !status.ok()) {
      if (broken_.ok()) broken_ = status;
      return status;
    }
    requests_.Remove(place);
    first[place.first] = place.second + 1;
    ++count;
    if (next) heads.push(*next);
  }
  if (const auto gone = first.find(kNoModel); gone != first.end()) {
    StoreRow store = store_;
    store.first_request = gone->second;
    FIDELIO_RETURN_IF_ERROR(PutStore(store));
  }
  for (const auto& [id, seq] : first) {
    if (id == kNoModel) continue;
    ModelEntry entry = *models.at(id);
    entry.first_request = seq;
    FIDELIO_RETURN_IF_ERROR(Put(entry));
  }
  return count;
}

}  // namespace fidelio
