// ModelService: observations.
#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/model/conditioned_revision.h"
#include "server/model/core_models.h"
#include "server/model/method_choice.h"
#include "server/model/model_service.h"
#include "server/model/service_impl.h"
#include "server/model/validate.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

using Eigen::Index;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int64_t kReadAhead = 10'000;  // points that are read from the store at a time
constexpr int kRevisionAttempts = 8;    // to condition a revision while others change the model

ObservationBlock BlockOf(const ObservationBatch& batch) {
  ObservationBlock block;
  block.level = *batch.level;
  block.rows = batch.inputs.rows();
  block.cols = batch.inputs.cols();
  block.x.resize(static_cast<size_t>(batch.inputs.size()));
  Eigen::Map<RowMajor>(block.x.data(), block.rows, block.cols) = batch.inputs;
  block.y.assign(batch.outputs.begin(), batch.outputs.end());
  block.noise.assign(batch.noise_variances.begin(), batch.noise_variances.end());
  return block;
}

// Rows [from, from + count) of a block.
ObservationBatch BatchOf(const StoredBlock& stored, int64_t from, int64_t count) {
  const ObservationBlock& block = stored.block;
  ObservationBatch batch;
  batch.level = block.level;
  batch.inputs = Eigen::Map<const RowMajor>(block.x.data(), block.rows, block.cols).middleRows(from, count);
  batch.outputs = Eigen::Map<const Vector>(block.y.data() + from, count);
  if (!block.noise.empty()) batch.noise_variances = Eigen::Map<const Vector>(block.noise.data() + from, count);
  batch.data_version = stored.data_version;
  return batch;
}

// Calls visit(block) for the blocks of the query, in order, until it returns false.
absl::Status ForEachBlock(const Store& store, absl::string_view model, ObservationQuery query,
                          absl::FunctionRef<bool(const StoredBlock&)> visit) {
  query.max_points = kReadAhead;
  while (true) {
    FIDELIO_ASSIGN_OR_RETURN(const ObservationPage page, store.ReadObservations(model, query));
    for (const StoredBlock& block : page.blocks) {
      if (!visit(block)) return absl::OkStatus();
    }
    if (!page.next) return absl::OkStatus();
    query.from = *page.next;
  }
}

}  // namespace

absl::StatusOr<std::optional<ConditionedRevision>> ModelService::Impl::Condition(
    const ModelService& service, absl::string_view model, const std::vector<ObservationBlock>& blocks,
    ObservationUpdate update) {
  if (update != ObservationUpdate::kCondition) return std::nullopt;
  FIDELIO_ASSIGN_OR_RETURN(const IndexedModelPtr found, context.Find(model));
  std::vector<int64_t> counts = found->counts();
  for (const ObservationBlock& block : blocks) counts[static_cast<size_t>(block.level)] += block.rows;
  const ModelServiceOptions& limits = context.options();
  FIDELIO_ASSIGN_OR_RETURN(const std::shared_ptr<const LoadedRevision> current,
                           service.AcquireRevision(model, found->record.current_revision));
  const ModelSpec& spec = found->stored.spec;
  FIDELIO_ASSIGN_OR_RETURN(const MethodChoice made_by, ChooseMethod(spec.kind, current->info().inference, counts));
  FIDELIO_RETURN_IF_ERROR(
      CheckMemoryForFit(model, spec, counts, *made_by.method, limits.fit_threads, limits.max_fit_bytes));
  FIDELIO_ASSIGN_OR_RETURN(ConditionedRevision result, ConditionRevision(context.store(), *found, current->emulator(),
                                                                         current->info(), blocks, limits.fit_threads));
  result.info.code_version = limits.code_version;
  return result;
}

absl::StatusOr<AddObservationsAnswer> ModelService::AddObservations(const MutationContext& context,
                                                                    absl::string_view model, absl::string_view etag,
                                                                    const std::vector<ObservationBatch>& observations,
                                                                    ObservationUpdate update) {
  FIDELIO_RETURN_IF_ERROR(ValidateUpdate(update));
  // Checked and converted before the transaction: dimension and number of fidelities of a model never change.
  std::vector<ObservationBatch> batches = observations;
  std::vector<ObservationBlock> blocks;
  {
    FIDELIO_ASSIGN_OR_RETURN(const IndexedModelPtr found, impl_->context.Find(model));
    std::vector<LevelNoise> any(found->stored.noise.size(), LevelNoise::kNoData);
    FIDELIO_RETURN_IF_ERROR(ValidateObservations(batches, model, found->stored.spec, any, options()));
    for (const ObservationBatch& batch : batches) blocks.push_back(BlockOf(batch));
  }
  for (int attempt = 1;; ++attempt) {
    // Outside of the transaction, so that no other writer waits for it. What goes wrong here is the answer only if the request
    // was not answered before.
    absl::StatusOr<std::optional<ConditionedRevision>> conditioned = impl_->Condition(*this, model, blocks, update);
    bool outdated = false;
    ModelRecord record;
    IndexedModelPtr before;
    const absl::StatusOr<AddObservationsAnswer> result = impl_->context.Mutate<AddObservationsAnswer>(
        context, {"AddObservations", model},
        [&](StoreTransaction& transaction) -> absl::StatusOr<AddObservationsAnswer> {
          FIDELIO_ASSIGN_OR_RETURN(before, impl_->context.Find(model));
          FIDELIO_RETURN_IF_ERROR(CheckEtag(etag, before->record));
          StoredSpec stored = before->stored;
          // Again: the levels may have data by now, or the model may be another one.
          FIDELIO_RETURN_IF_ERROR(ValidateObservations(batches, model, stored.spec, stored.noise, options()));
          const int64_t points = std::accumulate(blocks.begin(), blocks.end(), int64_t{0},
                                                 [](int64_t n, const ObservationBlock& b) { return n + b.rows; });
          FIDELIO_RETURN_IF_ERROR(impl_->CheckObservations(context.caller, model, before->observations(), points));
          FIDELIO_RETURN_IF_ERROR(conditioned.status());
          if (conditioned->has_value() && !(*conditioned)->UpToDate(before->record)) {
            outdated = true;
            return ConcurrentChangeError(absl::StrCat("models/", model),
                                         "its observations or its revision changed meanwhile; try again");
          }
          if (stored.noise != before->stored.noise) {
            FIDELIO_RETURN_IF_ERROR(transaction.UpdateModel(model, 0, Encode(stored)).status());
          }
          FIDELIO_RETURN_IF_ERROR(transaction.AppendObservations(model, blocks).status());
          AddObservationsAnswer answer;
          if (conditioned->has_value()) {
            ConditionedRevision& revision = **conditioned;
            FIDELIO_ASSIGN_OR_RETURN(const RevisionRecord added,
                                     transaction.AddRevision(model, Encode(revision.info), revision.checkpoint));
            FIDELIO_RETURN_IF_ERROR(transaction.SetCurrentRevision(model, 0, added.id).status());
            answer.revision = revision.info.id = added.id;
          }
          FIDELIO_ASSIGN_OR_RETURN(record, transaction.GetModel(model));
          answer.data_version = record.data_version;
          answer.observation_counts = IndexedModel{.record = record, .stored = stored}.counts();
          answer.etag = EtagOf(record);
          return answer;
        },
        [&](const AddObservationsAnswer&) {
          if (conditioned->has_value()) {
            // First into the cache, so that nobody loads what is in memory already.
            ConditionedRevision& revision = **conditioned;
            impl_->context.cache().Insert(
                {before->uid, revision.info.id},
                std::make_shared<LoadedRevision>(revision.info, before->fidelities(), std::move(revision.emulator),
                                                 revision.bytes));
          }
          impl_->context.index().Put(record);
        });
    if (!outdated || attempt == kRevisionAttempts) return result;
  }
}

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
  if (query.data_version < 0 || query.data_version > found->record.data_version || from.data_version < 1 ||
      from.part < 0 || from.part > kMaxBlobBytes || from.row < 0) {
    return absl::InvalidArgumentError("page_token: it is not one that this list gave");
  }
  ObservationList list;
  list.data_version = query.data_version > 0 ? query.data_version : found->record.data_version;
  const Store& store = impl_->context.store();
  const auto wanted = [&](const StoredBlock& b) { return !query.level || b.block.level == *query.level; };

  // Those of all pages: what is there now, without what came after the first page.
  const std::vector<int64_t> counts = found->counts();
  list.total_size = query.level ? counts[static_cast<size_t>(*query.level)]
                                : std::accumulate(counts.begin(), counts.end(), int64_t{0});
  absl::Status status = absl::OkStatus();
  if (list.data_version < found->record.data_version) {
    status =
        ForEachBlock(store, model, {.from = {list.data_version + 1, 0}, .last_version = found->record.data_version},
                     [&](const StoredBlock& b) {
                       if (wanted(b)) list.total_size -= b.block.rows;
                       return true;
                     });
    if (!status.ok()) return impl_->context.Explain(status, model);
  }
  if (list.data_version == 0) return list;

  int64_t left = query.max_points;
  status = ForEachBlock(store, model,
                        {.from = {from.data_version, static_cast<int>(from.part)}, .last_version = list.data_version},
                        [&](const StoredBlock& b) {
                          if (!wanted(b)) return true;
                          const bool first = b.data_version == from.data_version && b.part == from.part;
                          const int64_t begin = first ? std::min(from.row, b.block.rows) : 0;
                          if (left == 0) {
                            list.next = ObservationPosition{b.data_version, b.part, begin};
                            return false;
                          }
                          const int64_t count = std::min(left, b.block.rows - begin);
                          if (count > 0) list.observations.push_back(BatchOf(b, begin, count));
                          left -= count;
                          if (begin + count < b.block.rows) {
                            list.next = ObservationPosition{b.data_version, b.part, begin + count};
                            return false;
                          }
                          return true;
                        });
  if (!status.ok()) return impl_->context.Explain(status, model);
  return list;
}

}  // namespace fidelio
