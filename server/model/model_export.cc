// ModelService: models on their way out.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/model/model_service.h"
#include "server/model/service_impl.h"
#include "server/model/transfer_format.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

constexpr int64_t kExportedIdsAtATime = 256;

class Export final : public ModelExport {
 public:
  Export(ServiceContext* context, IndexedModelPtr model, std::vector<int64_t> revisions)
      : context_(*context), model_(std::move(model)), revisions_(std::move(revisions)) {}

  absl::StatusOr<std::string> Next(size_t max_bytes) override {
    while (at_ == part_.size() && stage_ != Stage::kDone) {
      absl::StatusOr<std::string> part = NextPart();
      if (!part.ok()) return context_.Explain(part.status(), model_->record.name);
      part_ = *std::move(part);
      at_ = 0;
      chain_ = ExtendChain(chain_, part_);
      ++parts_;
    }
    std::string bytes = part_.substr(at_, std::max<size_t>(1, max_bytes));
    at_ += bytes.size();
    return bytes;
  }

 private:
  enum class Stage { kModel, kObservations, kRevisions, kEnd, kDone };

  absl::StatusOr<std::string> NextPart() {
    const std::string& name = model_->record.name;
    const IndexedModelPtr now = context_.index().Find(name);
    if (now == nullptr || now->uid != model_->uid) {
      return ConcurrentChangeError(absl::StrCat("models/", name), "was deleted while it was exported");
    }
    if (stage_ == Stage::kModel) {
      stage_ = Stage::kObservations;
      StoredSpec spec = model_->stored;
      spec.owner.clear();
      spec.contributions.clear();
      return EncodePart(FileModel{.name = name,
                                  .spec = Encode(spec),
                                  .data_version = model_->record.data_version,
                                  .revisions = static_cast<int64_t>(revisions_.size()),
                                  .current = Current()});
    }
    if (stage_ == Stage::kObservations) {
      if (from_ && model_->record.data_version > 0) {
        FIDELIO_ASSIGN_OR_RETURN(
            const ObservationPage page,
            context_.store().ReadObservations(
                name, {.from = *from_, .last_version = model_->record.data_version, .max_points = 1}));
        from_ = page.next;
        if (!page.blocks.empty()) {
          const StoredBlock& part = page.blocks[0];
          return EncodePart(FileObservations{part.data_version, part.block, part.withdrawn});
        }
      }
      stage_ = Stage::kRevisions;
    }
    if (stage_ == Stage::kRevisions && next_revision_ < revisions_.size()) {
      const int64_t id = revisions_[next_revision_++];
      const absl::StatusOr<RevisionRecord> record = context_.store().GetRevision(name, id);
      if (absl::IsNotFound(record.status())) return Deleted(id);
      FIDELIO_RETURN_IF_ERROR(record.status());
      FIDELIO_ASSIGN_OR_RETURN(RevisionInfo info, Decode<RevisionInfo>(record->metadata));
      info.fit = 0;  // fits stay behind
      absl::StatusOr<std::string> checkpoint = context_.store().ReadCheckpoint(name, id);
      if (absl::IsNotFound(checkpoint.status())) return Deleted(id);
      FIDELIO_RETURN_IF_ERROR(checkpoint.status());
      return EncodePart(FileRevision{Encode(info), *std::move(checkpoint)});
    }
    stage_ = Stage::kDone;
    return EncodePart(FileEnd{parts_, chain_});
  }

  // The file has announced it already.
  absl::Status Deleted(int64_t revision) const {
    return ConcurrentChangeError(absl::StrCat("models/", model_->record.name),
                                 absl::StrCat("revision ", revision, " was deleted while the model was exported"));
  }

  // Which of the revisions that are written, counted from 1, is the current one.
  int64_t Current() const {
    const auto found = std::find(revisions_.begin(), revisions_.end(), model_->record.current_revision);
    return found == revisions_.end() ? 0 : found - revisions_.begin() + 1;
  }

  ServiceContext& context_;
  const IndexedModelPtr model_;
  const std::vector<int64_t> revisions_;
  Stage stage_ = Stage::kModel;
  std::optional<ObservationCursor> from_ = ObservationCursor{1, 0};
  size_t next_revision_ = 0;
  std::string part_;
  size_t at_ = 0;  // bytes of the part that were given
  std::string chain_;
  int64_t parts_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ModelExport>> ModelService::ExportModel(absl::string_view model,
                                                                       bool all_revisions) const {
  FIDELIO_ASSIGN_OR_RETURN(IndexedModelPtr found, impl_->context.Find(model));
  std::vector<int64_t> revisions;
  if (all_revisions) {
    const int64_t newest = found->record.revisions;
    for (int64_t after = 0; after < newest; after += kExportedIdsAtATime) {
      const int64_t count = std::min(kExportedIdsAtATime, newest - after);
      const absl::StatusOr<RevisionPage> page =
          impl_->context.store().ListRevisions(model, after, static_cast<int>(count));
      if (!page.ok()) return impl_->context.Explain(page.status(), model);
      for (const RevisionRecord& record : page->revisions) revisions.push_back(record.id);
    }
  } else if (found->record.current_revision > 0) {
    revisions.push_back(found->record.current_revision);
  }
  return std::make_unique<Export>(&impl_->context, std::move(found), std::move(revisions));
}

}  // namespace fidelio
