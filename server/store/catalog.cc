#include "server/store/catalog.h"

#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/store/request_table.h"

namespace fidelio {
namespace {

constexpr int64_t kAnySeq = std::numeric_limits<int64_t>::max();

// All models by number. A model of which only the name is left is marked as damaged (FORMAT.md, S4).
absl::StatusOr<std::map<int64_t, ModelEntry>> ReadAllModels(Database& database, int64_t count) {
  std::vector<std::string> findings;
  const std::map<int64_t, std::string> names = ReadNames(database, findings);
  std::map<int64_t, ModelEntry> models = ReadModels(database, findings);
  for (const auto& [id, name] : names) {
    if (models.contains(id)) continue;
    // The scan may have ended early at a damaged page that this model does not need.
    absl::StatusOr<ModelEntry> entry = ReadModel(database, id);
    if (entry.ok()) {
      models[id] = *std::move(entry);
    } else {
      models[id].id = id;
      models[id].record.name = name;
      models[id].record.damage = std::string(entry.status().message());
    }
  }
  FIDELIO_RETURN_IF_ERROR(database.dead());
  if (static_cast<int64_t>(models.size()) != count) {
    return absl::DataLossError(absl::StrCat("the store has ", count, " models, but ", models.size(), " could be found",
                                            findings.empty() ? "" : absl::StrCat(". ", findings.front())));
  }
  return models;
}

}  // namespace

absl::Status Catalog::Load(Database& database, RequestIndex& requests) {
  FIDELIO_ASSIGN_OR_RETURN(const StoreRow store, ReadStoreRow(database));
  FIDELIO_ASSIGN_OR_RETURN(auto models, ReadAllModels(database, store.models));
  const auto load_requests = [&](int64_t model, int64_t first, int64_t next) {
    std::vector<RequestRow> rows;
    absl::Status status = ReadRequests(database, model, first, next, rows);
    for (const RequestRow& row : rows) requests.Add(row.key, {model, row.seq}, row.record.time);
    return status;
  };

  absl::MutexLock lock(&mutex_);
  store_ = store;
  if (const absl::Status status = load_requests(kNoModel, store.first_request, store.next_request); !status.ok()) {
    orphan_requests_damage_ = std::string(status.message());
  }
  for (auto& [id, entry] : models) {
    if (!entry.record.damage.empty()) {
      (void)load_requests(id, 0, kAnySeq);  // what is left of them
    } else if (entry.first_request < entry.next_request) {
      const absl::Status status = load_requests(id, entry.first_request, entry.next_request);
      if (!status.ok()) entry.record.damage = std::string(status.message());
    }
    std::string name = entry.record.name;
    if (!models_.emplace(std::move(name), std::make_shared<ModelEntry>(std::move(entry))).second) {
      return absl::DataLossError("two models have the same name");
    }
  }
  requests.Commit();
  return database.dead();
}

EntryPtr Catalog::Find(absl::string_view model) const {
  absl::ReaderMutexLock lock(&mutex_);
  const auto found = models_.find(model);
  return found == models_.end() ? nullptr : found->second;
}

std::vector<EntryPtr> Catalog::List(absl::string_view prefix, absl::string_view after, size_t limit) const {
  absl::ReaderMutexLock lock(&mutex_);
  std::vector<EntryPtr> entries;
  auto it = after < prefix ? models_.lower_bound(prefix) : models_.upper_bound(after);
  for (; it != models_.end() && entries.size() < limit && absl::StartsWith(it->first, prefix); ++it) {
    entries.push_back(it->second);
  }
  return entries;
}

StoreRow Catalog::store() const {
  absl::ReaderMutexLock lock(&mutex_);
  return store_;
}

void Catalog::Apply(const CatalogChanges& changes, const StoreRow& store) {
  absl::MutexLock lock(&mutex_);
  store_ = store;
  for (const auto& [name, entry] : changes) {
    if (entry == nullptr) {
      models_.erase(name);
    } else {
      models_[name] = entry;
    }
  }
}

void Catalog::Quarantine(absl::string_view model, absl::string_view why) {
  absl::MutexLock lock(&mutex_);
  const auto found = models_.find(model);
  if (found == models_.end() || !found->second->record.damage.empty()) return;
  auto damaged = std::make_shared<ModelEntry>(*found->second);
  damaged->record.damage = std::string(why);
  found->second = std::move(damaged);
}

void Catalog::QuarantineOrphanRequests(absl::string_view why) {
  absl::MutexLock lock(&mutex_);
  if (orphan_requests_damage_.empty()) orphan_requests_damage_ = std::string(why);
}

std::string Catalog::orphan_requests_damage() const {
  absl::ReaderMutexLock lock(&mutex_);
  return orphan_requests_damage_;
}

}  // namespace fidelio
