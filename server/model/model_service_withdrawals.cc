// ModelService: observations that are taken out of use or corrected.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/model/core_models.h"
#include "server/model/model_service.h"
#include "server/model/observation_history.h"
#include "server/model/service_impl.h"
#include "server/model/validate.h"
#include "server/status/details.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

constexpr int kChangeAttempts = 8;  // to find observations while others change them

absl::Status NotInUseError(std::string name, const std::string& message) {
  return WithDetail(absl::NotFoundError(message), ResourceDetail{"observation", std::move(name)});
}

// A row that is in use, with what a correction needs of it.
struct FoundRow {
  RowRange place = {};
  std::vector<double> x = {};
  std::optional<double> noise = {};
};

// Where observations stand in use, in the order of `ids`. NOT_FOUND names the first id that is not in use.
absl::StatusOr<std::vector<FoundRow>> FindRuns(const StoreReader& store, const IndexedModel& model,
                                               const std::vector<std::string>& ids) {
  const std::string& name = model.record.name;
  const int64_t version = model.record.data_version;
  FIDELIO_ASSIGN_OR_RETURN(const WithdrawnSet withdrawn,
                           WithdrawnSet::Read(store, name, model.stored.withdrawn, version));
  absl::flat_hash_map<std::string, size_t> wanted;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!wanted.emplace(ids[i], i).second) {
      return absl::InvalidArgumentError(absl::StrCat("run_ids[", i, "]: ", Quoted(ids[i]), " stands twice"));
    }
  }
  std::vector<FoundRow> rows(ids.size());
  std::vector<int64_t> gone(ids.size(), 0);  // the version that withdrew it
  FIDELIO_RETURN_IF_ERROR(ForEachPart(store, name, {.last_version = version}, [&](const StoredBlock& part) {
    const ObservationBlock& b = part.block;
    for (int64_t row = 0; row < b.rows; ++row) {
      const auto found = wanted.find(RunIdOf(part, row));
      if (found == wanted.end()) continue;
      const size_t i = found->second;
      withdrawn.ForEachRun(part, row, row + 1, [&](int64_t, int64_t, const Withdrawal* withdrawal) {
        if (withdrawal != nullptr) {
          gone[i] = withdrawal->data_version;
          return;
        }
        rows[i] = {.place = {part.data_version, part.part, b.level, row, 1}};
        rows[i].x.assign(b.x.begin() + row * b.cols, b.x.begin() + (row + 1) * b.cols);
        if (!b.noise.empty()) rows[i].noise = b.noise[static_cast<size_t>(row)];
      });
    }
    return true;
  }));
  for (size_t i = 0; i < ids.size(); ++i) {
    if (rows[i].place.count > 0) continue;
    return NotInUseError(
        absl::StrCat("models/", name, "/observations/", ids[i]),
        absl::StrCat("run_ids[", i, "]: ", Quoted(ids[i]),
                     gone[i] > 0 ? absl::StrCat(" was withdrawn by data_version ", gone[i])
                                 : absl::StrCat(": model ", Quoted(name),
                                                " has no observation with this id; ListObservations shows them")));
  }
  return rows;
}

// Neighbouring rows of a block as one range.
std::vector<RowRange> Merge(std::vector<RowRange> rows) {
  const auto key = [](const RowRange& r) { return std::make_tuple(r.data_version, r.part, r.first); };
  std::sort(rows.begin(), rows.end(), [&](const RowRange& a, const RowRange& b) { return key(a) < key(b); });
  std::vector<RowRange> merged;
  for (const RowRange& r : rows) {
    RowRange* last = merged.empty() ? nullptr : &merged.back();
    if (last != nullptr && last->data_version == r.data_version && last->part == r.part &&
        last->first + last->count == r.first) {
      last->count += r.count;
    } else {
      merged.push_back(r);
    }
  }
  return merged;
}

absl::StatusOr<std::vector<RowRange>> FindBatch(const StoreReader& store, const IndexedModel& model, int64_t batch) {
  const std::string& name = model.record.name;
  std::vector<RowRange> rows;
  if (batch <= model.record.data_version) {
    FIDELIO_ASSIGN_OR_RETURN(const WithdrawnSet withdrawn,
                             WithdrawnSet::Read(store, name, model.stored.withdrawn, model.record.data_version));
    FIDELIO_RETURN_IF_ERROR(
        ForEachPart(store, name, {.from = {batch, 0}, .last_version = batch}, [&](const StoredBlock& part) {
          withdrawn.ForEachRun(part, 0, part.block.rows, [&](int64_t first, int64_t count, const Withdrawal* gone) {
            if (gone == nullptr) rows.push_back({part.data_version, part.part, part.block.level, first, count});
          });
          return true;
        }));
  }
  if (!rows.empty()) return rows;
  return NotInUseError(absl::StrCat("models/", name),
                       absl::StrCat("batch_data_version: ", batch, ": model ", Quoted(name),
                                    " has no observations in use that this data_version added"));
}

absl::Status CheckIds(const std::vector<std::string>& ids) {
  constexpr size_t kMostIds = 100'000;
  if (ids.size() <= kMostIds) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("run_ids: ", ids.size(), ", want at most ", kMostIds, " in one call"));
}

absl::Status CheckReason(absl::string_view reason) {
  if (reason.size() <= kMaxReasonBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("reason: ", reason.size(), " bytes, want at most ", kMaxReasonBytes));
}

}  // namespace

absl::StatusOr<ChangeObservationsAnswer> ModelService::Impl::Change(
    const MutationContext& caller, const MutationName& name, absl::string_view etag,
    absl::FunctionRef<absl::StatusOr<ObservationChange>(const IndexedModel&)> locate) {
  const absl::string_view model = name.model;
  for (int attempt = 1;; ++attempt) {
    // Outside of the transaction, so that no other writer waits while the observations are searched. What goes wrong here
    // is the answer only if the request was not answered before.
    FIDELIO_ASSIGN_OR_RETURN(const IndexedModelPtr searched, context.Find(model));
    const absl::StatusOr<ObservationChange> change = locate(*searched);
    bool outdated = false;
    ModelRecord record;
    const absl::StatusOr<ChangeObservationsAnswer> result = context.Mutate<ChangeObservationsAnswer>(
        caller, name,
        [&](StoreTransaction& transaction) -> absl::StatusOr<ChangeObservationsAnswer> {
          FIDELIO_ASSIGN_OR_RETURN(const IndexedModelPtr before, context.Find(model));
          FIDELIO_RETURN_IF_ERROR(CheckEtag(etag, before->record));
          if (before->uid != searched->uid || before->record.data_version != searched->record.data_version) {
            outdated = true;
            return ConcurrentChangeError(absl::StrCat("models/", model),
                                         "its observations changed meanwhile; try again");
          }
          FIDELIO_RETURN_IF_ERROR(change.status());
          ChangeObservationsAnswer answer;
          std::vector<int64_t> counts = before->counts();
          for (const ObservationBlock& block : change->added) counts[static_cast<size_t>(block.level)] += block.rows;
          for (const RowRange& range : change->withdrawn.rows) {
            answer.changed += range.count;
            counts[static_cast<size_t>(range.level)] -= range.count;
          }
          StoredSpec stored = before->stored;
          AddWithdrawn(change->withdrawn.rows, before->record.data_version + 1, stored.withdrawn);
          for (size_t t = 0; t < counts.size(); ++t) {
            if (counts[t] == 0) stored.noise[t] = LevelNoise::kNoData;
          }
          FIDELIO_RETURN_IF_ERROR(transaction.UpdateModel(model, 0, Encode(stored)).status());
          FIDELIO_RETURN_IF_ERROR(transaction.WithdrawObservations(model, change->withdrawn, change->added).status());
          FIDELIO_ASSIGN_OR_RETURN(record, transaction.GetModel(model));
          answer.data_version = record.data_version;
          answer.observation_counts = std::move(counts);
          answer.etag = EtagOf(record);
          FIDELIO_ASSIGN_OR_RETURN(answer.current_revision_withdrawn,
                                   WithdrawnOfCurrentRevision(transaction, record, stored.withdrawn));
          return answer;
        },
        [&](const ChangeObservationsAnswer&) { context.index().Put(record); });
    if (!outdated || attempt == kChangeAttempts) return result;
  }
}

absl::StatusOr<ChangeObservationsAnswer> ModelService::WithdrawObservations(const MutationContext& context,
                                                                            absl::string_view model,
                                                                            absl::string_view etag,
                                                                            const WithdrawQuery& query) {
  FIDELIO_RETURN_IF_ERROR(CheckIds(query.run_ids));
  FIDELIO_RETURN_IF_ERROR(CheckReason(query.reason));
  if (query.batch < 0) {
    return absl::InvalidArgumentError(absl::StrCat("batch_data_version: ", query.batch, ", want a number above 0"));
  }
  if (query.run_ids.empty() == (query.batch == 0)) {
    return absl::InvalidArgumentError(query.batch == 0
                                          ? "run_ids: none, want the ids of observations, or batch_data_version"
                                          : "batch_data_version: given with run_ids, want one of both");
  }
  using Change = Impl::ObservationChange;
  const auto locate = [&](const IndexedModel& found) -> absl::StatusOr<Change> {
    Change change{.withdrawn = {.reason = query.reason}};
    if (query.batch > 0) {
      FIDELIO_ASSIGN_OR_RETURN(change.withdrawn.rows, FindBatch(impl_->context.store(), found, query.batch));
      return change;
    }
    FIDELIO_ASSIGN_OR_RETURN(const std::vector<FoundRow> rows, FindRuns(impl_->context.store(), found, query.run_ids));
    for (const FoundRow& row : rows) change.withdrawn.rows.push_back(row.place);
    change.withdrawn.rows = Merge(std::move(change.withdrawn.rows));
    return change;
  };
  return impl_->Change(context, {"WithdrawObservations", model}, etag, locate);
}

absl::StatusOr<ChangeObservationsAnswer> ModelService::CorrectObservations(const MutationContext& context,
                                                                           absl::string_view model,
                                                                           absl::string_view etag,
                                                                           const Correction& correction) {
  const auto n = static_cast<Eigen::Index>(correction.run_ids.size());
  FIDELIO_RETURN_IF_ERROR(CheckIds(correction.run_ids));
  FIDELIO_RETURN_IF_ERROR(CheckReason(correction.reason));
  if (n == 0) return absl::InvalidArgumentError("run_ids: none, want the ids of observations");
  if (correction.outputs.size() != n) {
    return absl::InvalidArgumentError(
        absl::StrCat("outputs: ", correction.outputs.size(), " values, but run_ids has ", n));
  }
  const Eigen::Index noises = correction.noise_variances.size();
  if (noises != 0 && noises != 1 && noises != n) {
    return absl::InvalidArgumentError(
        absl::StrCat("noise_variances: ", noises, " values, want ", n, " (one per id), 1 or none"));
  }
  using Change = Impl::ObservationChange;
  const auto locate = [&](const IndexedModel& found) -> absl::StatusOr<Change> {
    FIDELIO_RETURN_IF_ERROR(CheckKnownTransform(model, found.stored.spec));
    FIDELIO_RETURN_IF_ERROR(ValidateCorrection(correction, found.stored.spec));
    FIDELIO_ASSIGN_OR_RETURN(const std::vector<FoundRow> rows,
                             FindRuns(impl_->context.store(), found, correction.run_ids));
    Change change{.withdrawn = {.corrected = true, .reason = correction.reason}};
    std::map<int, ObservationBlock> by_level;
    for (size_t i = 0; i < rows.size(); ++i) {
      const FoundRow& row = rows[i];
      change.withdrawn.rows.push_back(row.place);
      if (noises > 0 && !row.noise) {
        return absl::InvalidArgumentError(absl::StrCat("noise_variances: given, but the observations of level ",
                                                       row.place.level, " have learned noise"));
      }
      ObservationBlock& block = by_level[row.place.level];
      block.level = row.place.level;
      block.cols = static_cast<int64_t>(row.x.size());
      ++block.rows;
      block.x.insert(block.x.end(), row.x.begin(), row.x.end());
      block.y.push_back(correction.outputs[static_cast<Eigen::Index>(i)]);
      if (row.noise) {
        block.noise.push_back(noises == 0 ? *row.noise
                                          : correction.noise_variances[noises == 1 ? 0 : static_cast<Eigen::Index>(i)]);
      }
      block.run_ids.push_back(correction.run_ids[i]);
    }
    change.withdrawn.rows = Merge(std::move(change.withdrawn.rows));
    for (auto& [level, block] : by_level) change.added.push_back(std::move(block));
    return change;
  };
  return impl_->Change(context, {"CorrectObservations", model}, etag, locate);
}

}  // namespace fidelio
