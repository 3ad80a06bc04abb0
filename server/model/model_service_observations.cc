// ModelService: observations on their way in.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/model/conditioned_revision.h"
#include "server/model/core_models.h"
#include "server/model/method_choice.h"
#include "server/model/model_service.h"
#include "server/model/retention.h"
#include "server/model/service_impl.h"
#include "server/model/validate.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

using Eigen::Index;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int kRevisionAttempts = 8;  // to condition a revision while others change the model

ObservationBlock BlockOf(const ObservationBatch& batch) {
  ObservationBlock block;
  block.level = *batch.level;
  block.rows = batch.inputs.rows();
  block.cols = batch.inputs.cols();
  block.x.resize(static_cast<size_t>(batch.inputs.size()));
  Eigen::Map<RowMajor>(block.x.data(), block.rows, block.cols) = batch.inputs;
  block.y.assign(batch.outputs.begin(), batch.outputs.end());
  block.noise.assign(batch.noise_variances.begin(), batch.noise_variances.end());
  block.run_ids = batch.run_ids;
  return block;
}

// The rows of `blocks` that keep(row) wants, numbered over all of them; blocks that lose all rows vanish.
std::vector<ObservationBlock> Filter(const std::vector<ObservationBlock>& blocks,
                                     absl::FunctionRef<bool(size_t)> keep) {
  std::vector<ObservationBlock> result;
  size_t k = 0;
  for (const ObservationBlock& block : blocks) {
    ObservationBlock kept{.level = block.level, .rows = 0, .cols = block.cols};
    for (size_t i = 0; i < static_cast<size_t>(block.rows); ++i, ++k) {
      if (!keep(k)) continue;
      const auto x = block.x.begin() + static_cast<std::ptrdiff_t>(i) * block.cols;
      kept.x.insert(kept.x.end(), x, x + block.cols);
      kept.y.push_back(block.y[i]);
      if (!block.noise.empty()) kept.noise.push_back(block.noise[i]);
      if (!block.run_ids.empty()) kept.run_ids.push_back(block.run_ids[i]);
      ++kept.rows;
    }
    if (kept.rows > 0) result.push_back(std::move(kept));
  }
  return result;
}

constexpr size_t kMaxWarnedRows = 100;

void Warn(ObservationWarning& warning, size_t row) {
  if (warning.count++ < static_cast<int64_t>(kMaxWarnedRows)) warning.rows.push_back(static_cast<int64_t>(row));
}

// Beyond three widths of the box.
constexpr double kFarWidths = 3;

void WarnOfFarRows(const std::vector<ObservationBlock>& blocks, const ModelSpec& spec,
                   std::vector<ObservationWarning>& warnings) {
  if (!spec.input_box) return;
  const Vector width = spec.input_box->upper - spec.input_box->lower;
  const Vector lower = spec.input_box->lower - kFarWidths * width, upper = spec.input_box->upper + kFarWidths * width;
  ObservationWarning warning{.kind = ObservationWarningKind::kFarOutsideBox};
  std::string example;
  size_t k = 0;
  for (const ObservationBlock& block : blocks) {
    for (int64_t i = 0; i < block.rows; ++i, ++k) {
      for (int64_t j = 0; j < block.cols; ++j) {
        const double x = block.x[static_cast<size_t>(i * block.cols + j)];
        if (x >= lower[j] && x <= upper[j]) continue;
        if (warning.count == 0) {
          example = absl::StrCat("row ", k, " has ", x, " for ", InputName(spec, j), ", whose box is ",
                                 spec.input_box->lower[j], " to ", spec.input_box->upper[j]);
        }
        Warn(warning, k);
        break;
      }
    }
  }
  if (warning.count == 0) return;
  warning.message = absl::StrCat(warning.count, warning.count == 1 ? " row lies" : " rows lie",
                                 " more than three box widths outside of the input box: ", example);
  warnings.push_back(std::move(warning));
}

// What is added of the rows of a call, and what is said of them.
struct Screened {
  std::vector<ObservationBlock> blocks = {};
  AddObservationsAnswer answer = {};
};

Screened Screen(const std::vector<ObservationBlock>& blocks, const KnownRows& known, const ModelSpec& spec,
                DuplicatePolicy policy) {
  Screened result;
  AddObservationsAnswer& answer = result.answer;
  const bool skip = policy == DuplicatePolicy::kSkip;
  ObservationWarning copies{.kind = ObservationWarningKind::kDuplicate};
  for (size_t k = 0; k < known.duplicate.size(); ++k) {
    if (known.replayed[k]) {
      ++answer.replayed;
    } else if (known.duplicate[k]) {
      Warn(copies, k);
      if (skip) ++answer.skipped;
    }
  }
  const int64_t rows = static_cast<int64_t>(known.duplicate.size());
  answer.added = rows - answer.replayed - answer.skipped;
  if (copies.count > 0) {
    copies.message =
        absl::StrCat(copies.count, " of ", rows, rows == 1 ? " row is an exact copy" : " rows are exact copies",
                     " (fidelity, inputs and output) of observations in use or of earlier rows, and ",
                     copies.count == 1 ? "was " : "were ", skip ? "left out" : "added all the same");
    answer.warnings.push_back(std::move(copies));
  }
  WarnOfFarRows(blocks, spec, answer.warnings);
  result.blocks = answer.added == rows
                      ? blocks
                      : Filter(blocks, [&](size_t k) { return !known.replayed[k] && !(skip && known.duplicate[k]); });
  return result;
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
  FIDELIO_RETURN_IF_ERROR(ValidateMethodOptions(current->info().options, made_by));
  FIDELIO_RETURN_IF_ERROR(CheckMemoryForFit(model, spec, counts, made_by, current->info().options, limits.fit_threads,
                                            limits.max_fit_bytes));
  FIDELIO_ASSIGN_OR_RETURN(ConditionedRevision result, ConditionRevision(context.store(), *found, current->emulator(),
                                                                         current->info(), blocks, limits.fit_threads));
  result.info.code_version = limits.code_version;
  return result;
}

absl::StatusOr<AddObservationsAnswer> ModelService::AddObservations(const MutationContext& context,
                                                                    absl::string_view model, absl::string_view etag,
                                                                    const std::vector<ObservationBatch>& observations,
                                                                    AddObservationsOptions add) {
  FIDELIO_RETURN_IF_ERROR(ValidateUpdate(add.update));
  // Checked and converted before the transaction: dimension and number of fidelities of a model never change.
  std::vector<ObservationBatch> batches = observations;
  std::vector<ObservationBlock> blocks;
  {
    FIDELIO_ASSIGN_OR_RETURN(const IndexedModelPtr found, impl_->context.Find(model));
    std::vector<LevelNoise> any(found->stored.noise.size(), LevelNoise::kNoData);
    FIDELIO_RETURN_IF_ERROR(ValidateObservations(batches, model, found->stored.spec, any, options()));
    for (const ObservationBatch& batch : batches) blocks.push_back(BlockOf(batch));
    // What goes wrong here goes wrong in the transaction, too.
    impl_->observations.CatchUp(impl_->context.store(), *found).IgnoreError();
  }
  const auto screen = [&](const StoreReader& reader, const IndexedModel& known) -> absl::StatusOr<Screened> {
    FIDELIO_ASSIGN_OR_RETURN(const KnownRows rows, impl_->observations.Look(reader, known, blocks));
    return Screen(blocks, rows, known.stored.spec, add.duplicates);
  };
  for (int attempt = 1;; ++attempt) {
    // Outside of the transaction, so that no other writer waits for it. What goes wrong here is the answer only if the request
    // was not answered before.
    absl::StatusOr<std::optional<ConditionedRevision>> conditioned = std::nullopt;
    int64_t conditioned_uid = 0;
    if (add.update == ObservationUpdate::kCondition) {
      FIDELIO_ASSIGN_OR_RETURN(const IndexedModelPtr found, impl_->context.Find(model));
      conditioned_uid = found->uid;
      const absl::StatusOr<Screened> screened = screen(impl_->context.store(), *found);
      if (!screened.ok()) {
        conditioned = screened.status();
      } else if (!screened->blocks.empty()) {
        conditioned = impl_->Condition(*this, model, screened->blocks, add.update);
      }
    }
    bool outdated = false;
    ModelRecord record;
    IndexedModelPtr before;
    std::vector<int64_t> dropped;  // revisions
    const absl::StatusOr<AddObservationsAnswer> result = impl_->context.Mutate<AddObservationsAnswer>(
        context, {"AddObservations", model},
        [&](StoreTransaction& transaction) -> absl::StatusOr<AddObservationsAnswer> {
          FIDELIO_ASSIGN_OR_RETURN(before, impl_->context.Find(model));
          FIDELIO_RETURN_IF_ERROR(CheckEtag(etag, before->record));
          StoredSpec stored = before->stored;
          // Again: the levels may have data by now, or the model may be another one.
          FIDELIO_RETURN_IF_ERROR(ValidateObservations(batches, model, stored.spec, stored.noise, options()));
          if (conditioned_uid != 0 && conditioned_uid != before->uid) {
            outdated = true;
            return ConcurrentChangeError(absl::StrCat("models/", model),
                                         "was deleted and created again during the call");
          }
          FIDELIO_RETURN_IF_ERROR(conditioned.status());
          FIDELIO_ASSIGN_OR_RETURN(Screened screened, screen(transaction, *before));
          AddObservationsAnswer& answer = screened.answer;
          FIDELIO_RETURN_IF_ERROR(
              impl_->CheckObservations(context.caller, model, before->observations(), answer.added));
          if (conditioned->has_value() && !(*conditioned)->UpToDate(before->record)) {
            outdated = true;
            return ConcurrentChangeError(absl::StrCat("models/", model),
                                         "its observations or its revision changed during the call; try again");
          }
          if (!screened.blocks.empty()) {
            CountContribution(context.caller, answer.added, stored);
            if (stored.noise != before->stored.noise || stored.contributions != before->stored.contributions) {
              FIDELIO_RETURN_IF_ERROR(transaction.UpdateModel(model, 0, Encode(stored)).status());
            }
            FIDELIO_RETURN_IF_ERROR(transaction.AppendObservations(model, screened.blocks).status());
          }
          if (conditioned->has_value()) {
            ConditionedRevision& revision = **conditioned;
            FIDELIO_ASSIGN_OR_RETURN(const RevisionRecord added,
                                     transaction.AddRevision(model, Encode(revision.info), revision.checkpoint));
            FIDELIO_RETURN_IF_ERROR(transaction.SetCurrentRevision(model, 0, added.id).status());
            answer.revision = revision.info.id = added.id;
            const int64_t keep = RevisionsToKeep(stored.spec.keep_revisions, options().keep_revisions);
            FIDELIO_ASSIGN_OR_RETURN(dropped, DeleteOldRevisions(transaction, model, keep, added.id));
          }
          FIDELIO_ASSIGN_OR_RETURN(record, transaction.GetModel(model));
          answer.data_version = record.data_version;
          answer.observation_counts = IndexedModel{.record = record, .stored = stored}.counts();
          answer.etag = EtagOf(record);
          return std::move(answer);
        },
        [&](const AddObservationsAnswer&) {
          if (conditioned->has_value()) {
            // First into the cache, so that nobody loads what is in memory already.
            ConditionedRevision& revision = **conditioned;
            impl_->context.cache().Insert(
                {before->uid, revision.info.id},
                std::make_shared<LoadedRevision>(revision.info, before->fidelities(), std::move(revision.emulator),
                                                 revision.bytes));
            for (const int64_t id : dropped) impl_->context.cache().Erase({before->uid, id});
          }
          impl_->context.index().Put(record);
        });
    if (!outdated || attempt == kRevisionAttempts) return result;
  }
}

}  // namespace fidelio
