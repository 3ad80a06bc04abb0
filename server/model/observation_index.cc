#include "server/model/observation_index.h"

#include <algorithm>
#include <cstring>

#include "absl/container/fixed_array.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/model/observation_history.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

constexpr size_t kMaxKeptModels = 64;
constexpr size_t kMaxKeptRows = 4'000'000;  // of all models: some 100 MB

// Zeros of both signs are equal.
uint64_t BitsOf(double value) {
  value += 0.0;
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

uint64_t HashOf(const ObservationBlock& block, int64_t row) {
  absl::FixedArray<uint64_t> words(static_cast<size_t>(block.cols) + 2);
  words[0] = static_cast<uint64_t>(block.level);
  words[1] = BitsOf(block.y[static_cast<size_t>(row)]);
  for (int64_t j = 0; j < block.cols; ++j) {
    words[static_cast<size_t>(j) + 2] = BitsOf(block.x[static_cast<size_t>(row * block.cols + j)]);
  }
  return absl::HashOf(absl::MakeConstSpan(words));
}

bool AreEqual(const ObservationBlock& a, int64_t i, const ObservationBlock& b, int64_t k) {
  return a.level == b.level && a.cols == b.cols && a.y[static_cast<size_t>(i)] == b.y[static_cast<size_t>(k)] &&
         std::equal(a.x.begin() + i * a.cols, a.x.begin() + (i + 1) * a.cols, b.x.begin() + k * b.cols);
}

// A row of a call.
struct CallRow {
  const ObservationBlock* block = nullptr;
  int64_t row = 0;
};

// Which of the rows, whose hashes were found, have the values of a row in use.
absl::Status Confirm(const StoreReader& reader, const IndexedModel& model, const std::vector<CallRow>& rows,
                     const absl::flat_hash_map<uint64_t, std::vector<size_t>>& found, std::vector<bool>& equal) {
  if (found.empty()) return absl::OkStatus();
  const int64_t version = model.record.data_version;
  FIDELIO_ASSIGN_OR_RETURN(const WithdrawnSet withdrawn,
                           WithdrawnSet::Read(reader, model.record.name, model.stored.withdrawn, version));
  return ForEachPart(reader, model.record.name, {.last_version = version}, [&](const StoredBlock& part) {
    withdrawn.ForEachRun(part, 0, part.block.rows, [&](int64_t first, int64_t count, const Withdrawal* gone) {
      for (int64_t i = first; gone == nullptr && i < first + count; ++i) {
        const auto candidates = found.find(HashOf(part.block, i));
        if (candidates == found.end()) continue;
        for (const size_t k : candidates->second) {
          if (AreEqual(part.block, i, *rows[k].block, rows[k].row)) equal[k] = true;
        }
      }
    });
    return true;
  });
}

}  // namespace

absl::Status ObservationIndex::ReadRows(const StoreReader& reader, const IndexedModel& model, Entry& entry) {
  const int64_t newest = model.record.data_version;
  const std::vector<WithdrawnCount>& counts = model.stored.withdrawn;
  while (true) {
    int64_t from = 0;
    {
      absl::MutexLock lock(&entry.mutex);
      if (entry.version == newest) return absl::OkStatus();
      // A row that was withdrawn can't be taken out of the hashes: another may have the same.
      if (entry.version > newest || (!counts.empty() && counts.back().at > entry.version)) {
        entry.version = 0;
        entry.rows.clear();
        entry.run_ids.clear();
      }
      from = entry.version;
    }
    // Without the lock: the store has one of its own, which a transaction holds when it comes here.
    std::vector<std::pair<uint64_t, std::string>> rows;
    FIDELIO_ASSIGN_OR_RETURN(const WithdrawnSet withdrawn,
                             WithdrawnSet::Read(reader, model.record.name, counts, newest));
    FIDELIO_RETURN_IF_ERROR(ForEachPart(
        reader, model.record.name, {.from = {from + 1, 0}, .last_version = newest}, [&](const StoredBlock& part) {
          withdrawn.ForEachRun(part, 0, part.block.rows, [&](int64_t first, int64_t count, const Withdrawal* gone) {
            const std::vector<std::string>& ids = part.block.run_ids;
            for (int64_t i = first; gone == nullptr && i < first + count; ++i) {
              rows.emplace_back(HashOf(part.block, i), ids.empty() ? "" : ids[static_cast<size_t>(i)]);
            }
          });
          return true;
        }));
    absl::MutexLock lock(&entry.mutex);
    if (entry.version != from) continue;  // another call was quicker
    for (auto& [hash, id] : rows) {
      entry.rows.insert(hash);
      if (!id.empty()) entry.run_ids[std::move(id)] = hash;
    }
    entry.version = newest;
    return absl::OkStatus();
  }
}

absl::StatusOr<KnownRows> ObservationIndex::Look(const StoreReader& reader, const IndexedModel& model,
                                                 const std::vector<ObservationBlock>& blocks) {
  const std::shared_ptr<Entry> entry = Use(model.uid);
  KnownRows known;
  std::vector<CallRow> rows;
  absl::flat_hash_map<uint64_t, std::vector<size_t>> found;  // rows of the call whose hash is that of a row in use
  size_t size = 0;
  while (true) {
    FIDELIO_RETURN_IF_ERROR(ReadRows(reader, model, *entry));
    absl::MutexLock lock(&entry->mutex);
    if (entry->version != model.record.data_version) continue;  // another call has read another version meanwhile
    absl::flat_hash_map<uint64_t, std::vector<size_t>> earlier;
    absl::flat_hash_set<absl::string_view> ids;
    for (size_t b = 0; b < blocks.size(); ++b) {
      const ObservationBlock& block = blocks[b];
      for (int64_t i = 0; i < block.rows; ++i) {
        const size_t k = rows.size();
        rows.push_back({&block, i});
        const uint64_t hash = HashOf(block, i);
        bool copy = false, replayed = false;
        if (!block.run_ids.empty()) {
          const std::string& id = block.run_ids[static_cast<size_t>(i)];
          if (!ids.insert(id).second) {
            return absl::InvalidArgumentError(
                absl::StrCat("observations[", b, "].run_ids[", i, "]: ", Quoted(id), " stands twice in this request"));
          }
          const auto used = entry->run_ids.find(id);
          replayed = used != entry->run_ids.end() && used->second == hash;
          if (used != entry->run_ids.end() && !replayed) {
            return ConcurrentChangeError(
                absl::StrCat("models/", model.record.name),
                absl::StrCat("observations[", b, "].run_ids[", i, "]: ", Quoted(id),
                             " is in use with another fidelity, inputs or output; change it with CorrectObservations, "
                             "or withdraw it first"));
          }
        }
        if (!replayed) {
          std::vector<size_t>& same = earlier[hash];
          copy = std::any_of(same.begin(), same.end(),
                             [&](size_t e) { return AreEqual(*rows[e].block, rows[e].row, block, i); });
          same.push_back(k);
          if (!copy && entry->rows.contains(hash)) found[hash].push_back(k);
        }
        known.duplicate.push_back(copy);
        known.replayed.push_back(replayed);
      }
    }
    size = entry->rows.size() + entry->run_ids.size();
    break;
  }
  Trim(model.uid, size);
  FIDELIO_RETURN_IF_ERROR(Confirm(reader, model, rows, found, known.duplicate));
  return known;
}

std::shared_ptr<ObservationIndex::Entry> ObservationIndex::Use(int64_t uid) {
  absl::MutexLock lock(&mutex_);
  const auto place = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.uid == uid; });
  if (place == kept_.end()) {
    kept_.push_front({.uid = uid, .entry = std::make_shared<Entry>()});
  } else {
    kept_.splice(kept_.begin(), kept_, place);
  }
  return kept_.front().entry;
}

void ObservationIndex::Trim(int64_t uid, size_t rows) {
  absl::MutexLock lock(&mutex_);
  size_t all = 0, models = 0;
  for (auto kept = kept_.begin(); kept != kept_.end();) {
    if (kept->uid == uid) kept->rows = rows;
    all += kept->rows;
    kept = all > kMaxKeptRows || ++models > kMaxKeptModels ? kept_.erase(kept) : std::next(kept);
  }
}

void ObservationIndex::Forget(int64_t uid) {
  absl::MutexLock lock(&mutex_);
  std::erase_if(kept_, [&](const Kept& k) { return k.uid == uid; });
}

}  // namespace fidelio
