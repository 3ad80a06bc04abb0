// ModelService: models on their way in.
//
// Every part is checked when it arrives and then spooled; the transaction at the end reads the spool, so that memory holds
// one part at a time and nothing is created from a file that is not whole.
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/model/core_models.h"
#include "server/model/imported_history.h"
#include "server/model/model_service.h"
#include "server/model/service_impl.h"
#include "server/model/spool_file.h"
#include "server/model/transfer_format.h"
#include "server/model/validate.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

// Errors of decoding a file that a caller sent, with the path of the field. What is damaged is not the server's data: for
// the server it is a bad argument.
absl::Status InFile(const absl::Status& status) {
  const absl::StatusCode code = absl::IsDataLoss(status) ? absl::StatusCode::kInvalidArgument : status.code();
  return absl::Status(code, absl::StrCat("chunk: ", status.message()));
}

template <typename... Args>
absl::Status BadFile(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat("chunk: the file holds ", args...));
}

bool AllFinite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace

class ModelService::Import final : public ModelImport {
 public:
  Import(Impl* impl, MutationContext context, std::string body, std::string model, std::unique_ptr<SpoolFile> spool)
      : impl_(*impl),
        context_(std::move(context)),
        body_(std::move(body)),
        model_(std::move(model)),
        spool_(std::move(spool)) {}

  absl::Status Write(absl::string_view bytes) override {
    FIDELIO_RETURN_IF_ERROR(failed_);
    failed_ = Take(bytes);
    return failed_;
  }

  absl::StatusOr<ModelInfo> Finish() override {
    FIDELIO_RETURN_IF_ERROR(failed_);
    if (!ended_) {
      return absl::InvalidArgumentError(absl::StrCat("chunk: the file ends after ", spool_->size() + buffer_.size(),
                                                     " bytes, before its last part: it is not complete"));
    }
    failed_ = absl::FailedPreconditionError("the import has already finished");
    // The chain stands for the bytes of the file.
    body_ += chain_;
    context_.body = body_;
    ModelRecord record;
    return impl_.context.Mutate<ModelInfo>(
        context_, {"ImportModel", model_},
        [&](StoreTransaction& transaction) -> absl::StatusOr<ModelInfo> {
          if (impl_.context.index().Find(model_) != nullptr) {
            return ResourceExistsError("model", absl::StrCat("models/", model_));
          }
          FIDELIO_RETURN_IF_ERROR(impl_.CheckModels(context_.caller));
          FIDELIO_RETURN_IF_ERROR(impl_.CheckObservations(context_.caller, model_, 0, InUse()));
          FIDELIO_RETURN_IF_ERROR(Create(transaction));
          FIDELIO_ASSIGN_OR_RETURN(record, transaction.GetModel(model_));
          return InfoOf(IndexedModel{.record = record, .stored = stored_});
        },
        [&](const ModelInfo&) { impl_.context.index().Put(record); });
  }

 private:
  absl::Status Take(absl::string_view bytes) {
    if (spool_->size() + static_cast<int64_t>(buffer_.size() + bytes.size()) >
        impl_.context.options().max_import_bytes) {
      return QuotaExceededError(
          "server", absl::StrCat("chunk: a file of more than ", impl_.context.options().max_import_bytes, " bytes"));
    }
    buffer_.append(bytes.data(), bytes.size());
    size_t at = 0;
    while (buffer_.size() - at >= kPartHeaderBytes) {
      const absl::string_view rest = absl::string_view(buffer_).substr(at);
      FIDELIO_ASSIGN_OR_RETURN(const PartHeader header, ReadPartHeader(rest));
      if (rest.size() < header.size) break;
      FIDELIO_RETURN_IF_ERROR(Check(header.kind, rest.substr(0, header.size)));
      at += header.size;
    }
    buffer_.erase(0, at);
    if (ended_ && !buffer_.empty()) return BadFile(buffer_.size(), " bytes after its last part");
    return absl::OkStatus();
  }

  // Checks a part that is whole, and spools it.
  absl::Status Check(FilePart kind, absl::string_view bytes) {
    if (ended_) return BadFile("a part after its last one");
    if ((parts_.empty()) != (kind == FilePart::kModel)) return BadFile("a part out of its order");
    switch (kind) {
      case FilePart::kModel:
        FIDELIO_RETURN_IF_ERROR(CheckModel(bytes));
        break;
      case FilePart::kObservations:
        FIDELIO_RETURN_IF_ERROR(CheckObservations(bytes));
        break;
      case FilePart::kRevision:
        FIDELIO_RETURN_IF_ERROR(CheckRevision(bytes));
        break;
      case FilePart::kEnd:
        return CheckEnd(bytes);
    }
    chain_ = ExtendChain(chain_, bytes);
    parts_.push_back({kind, spool_->size(), bytes.size()});
    const absl::Status status = spool_->Append(bytes);
    return status.ok() ? status : impl_.context.Explain(status, model_);
  }

  absl::Status CheckModel(absl::string_view bytes) {
    absl::StatusOr<FileModel> part = DecodeModelPart(bytes);
    if (!part.ok()) return InFile(part.status());
    absl::StatusOr<StoredSpec> stored = Decode<StoredSpec>(part->spec);
    if (!stored.ok()) return InFile(stored.status());
    if (model_.empty()) model_ = part->name;
    FIDELIO_RETURN_IF_ERROR(ValidateModelName(model_, "header.model_id"));
    FIDELIO_RETURN_IF_ERROR(ValidateSpec(stored->spec, impl_.context.options()));
    stored_ = *std::move(stored);
    stored_.owner = context_.caller.name;
    stored_.contributions.clear();
    stored_.noise.assign(stored_.spec.fidelities.size(), LevelNoise::kNoData);
    stored_.withdrawn.clear();  // the observations say it
    history_.emplace(stored_.spec.fidelities.size());
    file_ = *std::move(part);
    if (file_.data_version < 0 || file_.revisions < 0 || file_.current < 0 || file_.current > file_.revisions) {
      return BadFile("revision ", file_.current, " of ", file_.revisions, " as the current one");
    }
    return absl::OkStatus();
  }

  absl::Status CheckObservations(absl::string_view bytes) {
    if (revisions_ > 0) return BadFile("observations after a revision");
    const absl::StatusOr<FileObservations> part = DecodeObservationsPart(bytes);
    if (!part.ok()) return InFile(part.status());
    if (!part->withdrawn) {
      FIDELIO_RETURN_IF_ERROR(CheckBlock(part->block));
      LevelNoise& noise = stored_.noise[static_cast<size_t>(part->block.level)];
      const LevelNoise given = part->block.noise.empty() ? LevelNoise::kLearned : LevelNoise::kGiven;
      if (noise != LevelNoise::kNoData && noise != given) return BadFile("a level with known and with learned noise");
      noise = given;
    }
    FIDELIO_RETURN_IF_ERROR(history_->Add(*part));
    for (size_t t = 0; part->withdrawn && !part->withdrawn->corrected && t < stored_.noise.size(); ++t) {
      if (history_->in_use()[t] == 0) stored_.noise[t] = LevelNoise::kNoData;
    }
    return absl::OkStatus();
  }

  int64_t InUse() const { return std::accumulate(history_->in_use().begin(), history_->in_use().end(), int64_t{0}); }

  absl::Status CheckBlock(const ObservationBlock& b) {
    const auto rows = static_cast<size_t>(b.rows);
    const bool shaped = b.rows >= 1 && b.cols == stored_.spec.input_dimension && b.y.size() == rows &&
                        b.x.size() / static_cast<size_t>(b.cols) == rows && b.x.size() % rows == 0 &&
                        (b.noise.empty() || b.noise.size() == rows);
    if (!shaped || b.level < 0 || b.level >= static_cast<int>(stored_.spec.fidelities.size())) {
      return BadFile("observations of level ", b.level, " with ", b.rows, " rows and ", b.cols,
                     " columns, which do not fit its model");
    }
    if (!AllFinite(b.x) || !AllFinite(b.y) || !AllFinite(b.noise)) return BadFile("numbers that are not finite");
    for (const double v : b.noise) {
      if (v < 0) return BadFile("a negative noise variance, ", v);
    }
    return absl::OkStatus();
  }

  absl::Status CheckRevision(absl::string_view bytes) {
    const absl::StatusOr<FileRevision> part = DecodeRevisionPart(bytes);
    if (!part.ok()) return InFile(part.status());
    const absl::StatusOr<RevisionInfo> info = Decode<RevisionInfo>(part->metadata);
    if (!info.ok()) return InFile(info.status());
    const absl::StatusOr<std::unique_ptr<Emulator>> emulator = LoadEmulator(part->checkpoint);
    if (!emulator.ok()) return InFile(emulator.status());
    const int levels = LearnsFromHighestOnly(stored_.spec.kind) ? 1 : static_cast<int>(stored_.spec.fidelities.size());
    if (info->kind != stored_.spec.kind || (*emulator)->levels() != levels ||
        (*emulator)->input_dimension() != stored_.spec.input_dimension) {
      return BadFile("a revision with ", (*emulator)->levels(), " levels and input dimension ",
                     (*emulator)->input_dimension(), ", which is not of its model");
    }
    if (info->data_version > file_.data_version) {
      return BadFile("a revision of data_version ", info->data_version, ", but the model's is ", file_.data_version);
    }
    ++revisions_;
    return absl::OkStatus();
  }

  absl::Status CheckEnd(absl::string_view bytes) {
    const absl::StatusOr<FileEnd> part = DecodeEndPart(bytes);
    if (!part.ok()) return InFile(part.status());
    if (part->parts != static_cast<int64_t>(parts_.size()) || part->chain != chain_ ||
        history_->data_version() != file_.data_version || revisions_ != file_.revisions) {
      return absl::InvalidArgumentError("chunk: parts of the file are missing, or not in their order");
    }
    stored_.withdrawn = history_->withdrawn();
    ended_ = true;
    return absl::OkStatus();
  }

  absl::Status Create(StoreTransaction& transaction) {
    FIDELIO_RETURN_IF_ERROR(transaction.CreateModel(model_, Encode(stored_)).status());
    std::vector<ObservationBlock> batch;
    std::optional<WithdrawnRows> withdrawn;
    int64_t version = 1, revision = 0;
    const auto flush = [&]() -> absl::Status {
      if (withdrawn) {
        FIDELIO_RETURN_IF_ERROR(transaction.WithdrawObservations(model_, *withdrawn, batch).status());
      } else if (!batch.empty()) {
        FIDELIO_RETURN_IF_ERROR(transaction.AppendObservations(model_, batch).status());
      }
      withdrawn.reset();
      batch.clear();
      return absl::OkStatus();
    };
    for (const Part& place : parts_) {
      if (place.kind == FilePart::kModel) continue;
      FIDELIO_ASSIGN_OR_RETURN(const std::string bytes, spool_->Read(place.offset, place.size));
      if (place.kind == FilePart::kObservations) {
        FIDELIO_ASSIGN_OR_RETURN(FileObservations part, DecodeObservationsPart(bytes));
        if (part.data_version != version) FIDELIO_RETURN_IF_ERROR(flush());
        version = part.data_version;
        if (part.withdrawn) {
          withdrawn = std::move(part.withdrawn);
        } else {
          batch.push_back(std::move(part.block));
        }
        continue;
      }
      FIDELIO_RETURN_IF_ERROR(flush());
      FIDELIO_ASSIGN_OR_RETURN(const FileRevision part, DecodeRevisionPart(bytes));
      FIDELIO_RETURN_IF_ERROR(transaction.AddRevision(model_, part.metadata, part.checkpoint).status());
      if (++revision == file_.current) {
        FIDELIO_RETURN_IF_ERROR(transaction.SetCurrentRevision(model_, 0, revision).status());
      }
    }
    return flush();
  }

  struct Part {
    FilePart kind;
    int64_t offset;
    size_t size;
  };

  Impl& impl_;
  MutationContext context_;
  std::string body_;  // what the context's body refers to
  std::string model_;
  const std::unique_ptr<SpoolFile> spool_;
  absl::Status failed_;
  std::string buffer_;  // what is not a whole part yet
  std::vector<Part> parts_;
  std::string chain_;
  bool ended_ = false;
  FileModel file_;
  StoredSpec stored_;
  std::optional<ImportedHistory> history_;  // once the model is known
  int64_t revisions_ = 0;
};

absl::StatusOr<std::unique_ptr<ModelImport>> ModelService::ImportModel(const MutationContext& context,
                                                                       absl::string_view model) {
  FIDELIO_RETURN_IF_ERROR(ValidateRequestId(context.request_id));
  if (!model.empty()) FIDELIO_RETURN_IF_ERROR(ValidateModelName(model, "header.model_id"));
  if (impl_->context.draining()) return DrainingError(absl::Seconds(1));
  absl::StatusOr<std::unique_ptr<SpoolFile>> spool = SpoolFile::Create(options().spool_directory);
  if (!spool.ok()) return impl_->context.Explain(spool.status(), model);
  MutationContext kept = context;
  kept.body = {};
  return std::make_unique<Import>(impl_.get(), std::move(kept), std::string(context.body), std::string(model),
                                  *std::move(spool));
}

}  // namespace fidelio
