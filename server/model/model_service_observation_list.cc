// ModelService: the observations of a model and their history, page by page.
#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/model/model_service.h"
#include "server/model/observation_history.h"
#include "server/model/service_impl.h"

namespace fidelio {
namespace {

using Eigen::Index;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The rows of a block that are in `runs` (first, count), as one batch.
ObservationBatch BatchOf(const StoredBlock& stored, const std::vector<std::pair<int64_t, int64_t>>& runs) {
  const ObservationBlock& block = stored.block;
  Index rows = 0;
  for (const auto& [first, count] : runs) rows += count;
  ObservationBatch batch;
  batch.level = block.level;
  batch.inputs.resize(rows, block.cols);
  batch.outputs.resize(rows);
  if (!block.noise.empty()) batch.noise_variances.resize(rows);
  batch.run_ids.reserve(static_cast<size_t>(rows));
  Index at = 0;
  for (const auto& [first, count] : runs) {
    batch.inputs.middleRows(at, count) =
        Eigen::Map<const RowMajor>(block.x.data(), block.rows, block.cols).middleRows(first, count);
    batch.outputs.segment(at, count) = Eigen::Map<const Vector>(block.y.data() + first, count);
    if (!block.noise.empty()) {
      batch.noise_variances.segment(at, count) = Eigen::Map<const Vector>(block.noise.data() + first, count);
    }
    for (int64_t row = first; row < first + count; ++row) batch.run_ids.push_back(RunIdOf(stored, row));
    at += count;
  }
  batch.data_version = stored.data_version;
  batch.created = stored.created;
  return batch;
}

// Rows [begin, end) of a block: those in use as one batch, and, for the history, each run of one fate as its own.
void AppendRows(const StoredBlock& block, int64_t begin, int64_t end, const WithdrawnSet& withdrawn, bool history,
                std::vector<ObservationBatch>& batches) {
  std::vector<std::pair<int64_t, int64_t>> in_use;
  withdrawn.ForEachRun(block, begin, end, [&](int64_t first, int64_t count, const Withdrawal* withdrawal) {
    if (!history) {
      if (withdrawal == nullptr) in_use.emplace_back(first, count);
      return;
    }
    batches.push_back(BatchOf(block, {{first, count}}));
    if (withdrawal != nullptr) batches.back().withdrawal = *withdrawal;
  });
  if (!in_use.empty()) batches.push_back(BatchOf(block, in_use));
}

int64_t RowsOf(const WithdrawnRows& withdrawn, const std::optional<int>& level) {
  int64_t rows = 0;
  for (const RowRange& range : withdrawn.rows) {
    if (!level || range.level == *level) rows += range.count;
  }
  return rows;
}

}  // namespace

absl::StatusOr<ObservationList> ModelService::ListObservations(absl::string_view model,
                                                               const ObservationListQuery& query) const {
  FIDELIO_ASSIGN_OR_RETURN(const IndexedModelPtr found, impl_->context.Find(model));
  if (query.level && (*query.level < 0 || *query.level >= found->fidelities())) {
    return absl::InvalidArgumentError(absl::StrCat("level: ", *query.level, ", but model \"", model, "\" has ",
                                                   found->fidelities(), " fidelities: want 0 to ",
                                                   found->fidelities() - 1));
  }
  if (query.max_points < 1) {
    return absl::InvalidArgumentError(absl::StrCat("page_size: ", query.max_points, ", want at least 1"));
  }
  const ObservationPosition& from = query.from;
  const int64_t newest = found->record.data_version;
  if (query.data_version < 0 || query.data_version > newest || from.data_version < 1 || from.part < 0 ||
      from.part > kMaxBlobBytes || from.row < 0) {
    return absl::InvalidArgumentError("page_token: it is not one that this list gave");
  }
  ObservationList list;
  list.data_version = query.data_version > 0 ? query.data_version : newest;
  if (list.data_version == 0) return list;
  const Store& store = impl_->context.store();
  const absl::StatusOr<WithdrawnSet> withdrawn =
      WithdrawnSet::Read(store, model, found->stored.withdrawn, list.data_version);
  if (!withdrawn.ok()) return impl_->ExplainFor(*found, withdrawn.status());

  // Those of all pages: what is in use now, without what happened after the first page, and with the history if asked.
  const std::vector<int64_t> counts = found->counts();
  list.total_size = query.level ? counts[static_cast<size_t>(*query.level)]
                                : std::accumulate(counts.begin(), counts.end(), int64_t{0});
  const auto wanted = [&](const StoredBlock& b) { return !query.level || b.block.level == *query.level; };
  const auto count = [&](const StoredBlock& part) {
    const bool later = part.data_version > list.data_version;
    if (part.withdrawn) {
      if (later || query.show_withdrawn) list.total_size += RowsOf(*part.withdrawn, query.level);
    } else if (later && wanted(part)) {
      list.total_size -= part.block.rows;
    }
    return true;
  };
  absl::Status status = absl::OkStatus();
  if (list.data_version < newest) {
    status = ForEachPart(store, model, {.from = {list.data_version + 1, 0}, .last_version = newest}, count);
  }
  int64_t counted = 0;
  for (const WithdrawnCount& w : found->stored.withdrawn) {
    if (!status.ok() || !query.show_withdrawn || w.at > list.data_version || w.at == counted) continue;
    counted = w.at;
    status = ForEachPart(store, model, {.from = {w.at, 0}, .last_version = w.at}, count);
  }
  if (!status.ok()) return impl_->ExplainFor(*found, status);

  int64_t left = query.max_points;
  status = ForEachPart(store, model,
                       {.from = {from.data_version, static_cast<int>(from.part)}, .last_version = list.data_version},
                       [&](const StoredBlock& b) {
                         if (b.withdrawn || !wanted(b)) return true;
                         const bool first = b.data_version == from.data_version && b.part == from.part;
                         const int64_t begin = first ? std::min(from.row, b.block.rows) : 0;
                         if (left == 0) {
                           list.next = ObservationPosition{b.data_version, b.part, begin};
                           return false;
                         }
                         const int64_t size = std::min(left, b.block.rows - begin);
                         AppendRows(b, begin, begin + size, *withdrawn, query.show_withdrawn, list.observations);
                         left -= size;
                         if (begin + size < b.block.rows) {
                           list.next = ObservationPosition{b.data_version, b.part, begin + size};
                           return false;
                         }
                         return true;
                       });
  if (!status.ok()) return impl_->ExplainFor(*found, status);
  return list;
}

}  // namespace fidelio
