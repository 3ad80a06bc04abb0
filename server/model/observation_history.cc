#include "server/model/observation_history.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace fidelio {
namespace {

constexpr int64_t kPointsAhead = 10'000;  // that are read from the store at a time

}  // namespace

absl::Status ForEachPart(const StoreReader& store, absl::string_view model, ObservationQuery query,
                         absl::FunctionRef<bool(const StoredBlock&)> visit) {
  query.max_points = kPointsAhead;
  while (true) {
    FIDELIO_ASSIGN_OR_RETURN(const ObservationPage page, store.ReadObservations(model, query));
    for (const StoredBlock& part : page.blocks) {
      if (!visit(part)) return absl::OkStatus();
    }
    if (!page.next) return absl::OkStatus();
    query.from = *page.next;
  }
}

absl::StatusOr<WithdrawnSet> WithdrawnSet::Read(const StoreReader& store, absl::string_view model,
                                                const std::vector<WithdrawnCount>& counts, int64_t version) {
  WithdrawnSet set;
  int64_t last = 0;
  for (const WithdrawnCount& count : counts) {
    if (count.at > version || count.at == last) continue;
    last = count.at;
    bool found = false;
    FIDELIO_RETURN_IF_ERROR(
        ForEachPart(store, model, {.from = {last, 0}, .last_version = last}, [&](const StoredBlock& part) {
          if (part.withdrawn) set.Add(part);
          found = found || part.withdrawn;
          return true;
        }));
    if (!found)
      return absl::DataLossError(absl::StrCat("observations: the withdrawal of version ", last, " is missing"));
  }
  return set;
}

void WithdrawnSet::Add(const StoredBlock& part) {
  const auto withdrawal = std::make_shared<Withdrawal>(Withdrawal{.data_version = part.data_version,
                                                                  .reason = part.withdrawn->reason,
                                                                  .corrected = part.withdrawn->corrected,
                                                                  .time = part.created});
  for (const RowRange& row : part.withdrawn->rows) {
    std::vector<Range>& ranges = ranges_[{row.data_version, row.part}];
    const auto place = std::upper_bound(ranges.begin(), ranges.end(), row.first,
                                        [](int64_t first, const Range& range) { return first < range.first; });
    ranges.insert(place, {row.first, row.count, withdrawal});
  }
}

void WithdrawnSet::ForEachRun(const StoredBlock& block, int64_t begin, int64_t end,
                              absl::FunctionRef<void(int64_t, int64_t, const Withdrawal*)> visit) const {
  const auto found = ranges_.find({block.data_version, block.part});
  int64_t at = begin;
  if (found != ranges_.end()) {
    for (const Range& range : found->second) {
      const int64_t first = std::max(range.first, at), last = std::min(range.first + range.count, end);
      if (first >= last) continue;
      if (first > at) visit(at, first - at, nullptr);
      visit(first, last - first, range.withdrawal.get());
      at = last;
    }
  }
  if (at < end) visit(at, end - at, nullptr);
}

std::string RunIdOf(const StoredBlock& block, int64_t row) {
  if (!block.block.run_ids.empty()) return block.block.run_ids[static_cast<size_t>(row)];
  return absl::StrCat(block.data_version, "-", block.first_row + row + 1);
}

bool IsMadeRunId(absl::string_view id) {
  const size_t dash = id.find('-');
  if (dash == absl::string_view::npos || dash == 0 || dash + 1 == id.size()) return false;
  const auto digits = [](absl::string_view s) {
    return std::all_of(s.begin(), s.end(), [](char c) { return absl::ascii_isdigit(c); });
  };
  return digits(id.substr(0, dash)) && digits(id.substr(dash + 1));
}

absl::StatusOr<std::vector<std::vector<bool>>> ReadWithdrawnSince(const StoreReader& store, const ModelRecord& model,
                                                                  const StoredSpec& stored, int64_t known) {
  std::vector<std::vector<bool>> gone(stored.spec.fidelities.size());
  FIDELIO_ASSIGN_OR_RETURN(const WithdrawnSet withdrawn,
                           WithdrawnSet::Read(store, model.name, stored.withdrawn, model.data_version));
  FIDELIO_RETURN_IF_ERROR(ForEachPart(store, model.name, {.last_version = known}, [&](const StoredBlock& part) {
    withdrawn.ForEachRun(part, 0, part.block.rows, [&](int64_t, int64_t count, const Withdrawal* withdrawal) {
      if (withdrawal != nullptr && withdrawal->data_version <= known) return;
      if (static_cast<size_t>(part.block.level) >= gone.size()) return;  // of another model under the same name
      std::vector<bool>& level = gone[static_cast<size_t>(part.block.level)];
      level.insert(level.end(), static_cast<size_t>(count), withdrawal != nullptr);
    });
    return true;
  }));
  return gone;
}

int64_t WithdrawnSince(const std::vector<WithdrawnCount>& counts, int64_t known) {
  int64_t sum = 0;
  for (const WithdrawnCount& count : counts) {
    if (count.added <= known && count.at > known) sum += count.count;
  }
  return sum;
}

absl::StatusOr<int64_t> WithdrawnOfCurrentRevision(const StoreReader& store, const ModelRecord& model,
                                                   const std::vector<WithdrawnCount>& counts) {
  if (counts.empty() || model.current_revision == 0) return 0;
  FIDELIO_ASSIGN_OR_RETURN(const RevisionRecord record, store.GetRevision(model.name, model.current_revision));
  FIDELIO_ASSIGN_OR_RETURN(const RevisionInfo info, Decode<RevisionInfo>(record.metadata));
  return WithdrawnSince(counts, info.data_version);
}

void AddWithdrawn(const std::vector<RowRange>& rows, int64_t at, std::vector<WithdrawnCount>& counts) {
  std::map<int64_t, int64_t> by_version;
  for (const RowRange& row : rows) by_version[row.data_version] += row.count;
  for (const auto& [added, count] : by_version) counts.push_back({at, added, count});
}

}  // namespace fidelio
