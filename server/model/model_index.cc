#include "server/model/model_index.h"

#include <numeric>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace fidelio {

std::vector<int64_t> IndexedModel::counts() const {
  std::vector<int64_t> counts = record.observations;
  counts.resize(stored.spec.fidelities.size(), 0);
  return counts;
}

int64_t IndexedModel::observations() const {
  return std::accumulate(record.observations.begin(), record.observations.end(), int64_t{0});
}

std::string EtagOf(const ModelRecord& record) {
  return absl::StrCat(absl::Hex(absl::ToUnixMicros(record.created)), "-", record.etag);
}

ModelInfo InfoOf(const IndexedModel& model) {
  ModelInfo info;
  info.name = model.record.name;
  info.spec = model.stored.spec;
  info.etag = EtagOf(model.record);
  info.data_version = model.record.data_version;
  info.observation_counts = model.counts();
  info.current_revision = model.record.current_revision;
  info.created = model.record.created;
  info.updated = model.record.updated;
  info.state = model.damage.empty() ? ModelState::kActive : ModelState::kQuarantined;
  info.quarantine_reason = model.damage;
  for (const WithdrawnCount& withdrawn : model.stored.withdrawn) info.withdrawn_count += withdrawn.count;
  return info;
}

IndexedModelPtr ModelIndex::Find(absl::string_view model) const {
  absl::ReaderMutexLock lock(&mutex_);
  const auto found = models_.find(model);
  return found == models_.end() ? nullptr : found->second;
}

std::vector<IndexedModelPtr> ModelIndex::List(absl::string_view prefix, absl::string_view after, size_t limit) const {
  absl::ReaderMutexLock lock(&mutex_);
  std::vector<IndexedModelPtr> models;
  auto at = after < prefix ? models_.lower_bound(prefix) : models_.upper_bound(after);
  for (; at != models_.end() && models.size() < limit && absl::StartsWith(at->first, prefix); ++at) {
    models.push_back(at->second);
  }
  return models;
}

int64_t ModelIndex::size() const {
  absl::ReaderMutexLock lock(&mutex_);
  return static_cast<int64_t>(models_.size());
}

ModelIndex::Usage ModelIndex::UsageOf(const std::string& token) const {
  absl::ReaderMutexLock lock(&mutex_);
  const auto found = usage_.find(token);
  return found == usage_.end() ? Usage() : found->second;
}

void ModelIndex::Count(const IndexedModel& model, int times) {
  const auto add = [&](const std::string& token, int64_t models, int64_t observations, int64_t contributions) {
    Usage& usage = usage_[token];
    usage.models += times * models;
    usage.observations += times * observations;
    usage.contributions += times * contributions;
    if (usage.models == 0 && usage.contributions == 0) usage_.erase(token);
  };
  add(model.stored.owner, 1, model.observations(), 0);
  for (const auto& [token, observations] : model.stored.contributions) add(token, 0, 0, observations);
}

void ModelIndex::Replace(const std::string& name, IndexedModelPtr entry) {
  IndexedModelPtr& place = models_[name];
  if (place != nullptr) Count(*place, -1);
  if (entry == nullptr) {
    models_.erase(name);
    return;
  }
  Count(*entry, 1);
  place = std::move(entry);
}

void ModelIndex::Put(const ModelRecord& record) {
  auto entry = std::make_shared<IndexedModel>();
  entry->record = record;
  entry->damage = record.damage;
  if (absl::StatusOr<StoredSpec> stored = Decode<StoredSpec>(record.spec); stored.ok()) {
    entry->stored = *std::move(stored);
  } else if (entry->damage.empty()) {
    entry->damage = std::string(stored.status().message());
  }
  absl::MutexLock lock(&mutex_);
  const auto found = models_.find(record.name);
  entry->uid = found == models_.end() ? next_uid_++ : found->second->uid;
  Replace(record.name, std::move(entry));
}

void ModelIndex::Erase(absl::string_view model) {
  absl::MutexLock lock(&mutex_);
  if (models_.contains(model)) Replace(std::string(model), nullptr);
}

void ModelIndex::Quarantine(absl::string_view model, absl::string_view why) {
  absl::MutexLock lock(&mutex_);
  const auto found = models_.find(model);
  if (found == models_.end() || !found->second->damage.empty()) return;
  auto entry = std::make_shared<IndexedModel>(*found->second);
  entry->damage = std::string(why);
  found->second = std::move(entry);
}

}  // namespace fidelio
