#include "server/model/fit_info.h"

#include "core/base/status_macros.h"
#include "core/emulator/fit_warnings.h"

namespace fidelio {

absl::StatusOr<FitInfo> InfoOf(absl::string_view model, const FitRecord& record) {
  FIDELIO_ASSIGN_OR_RETURN(const StoredFit fit, Decode<StoredFit>(record.options));
  FIDELIO_ASSIGN_OR_RETURN(const StoredProgress progress, Decode<StoredProgress>(record.progress));
  FitInfo info;
  info.model = std::string(model);
  info.id = record.id;
  info.state = record.state;
  info.options = fit.spec;
  info.progress = progress.progress;
  info.history = progress.history;
  info.data_version = record.started == absl::InfinitePast() ? 0 : record.data_version;
  info.revision = record.revision;
  info.error = DecodeStatus(record.error);
  info.inference = progress.inference;
  info.inference_reason = progress.inference_reason;
  info.created = record.created;
  if (record.started != absl::InfinitePast()) info.started = record.started;
  if (record.finished != absl::InfiniteFuture()) info.finished = record.finished;
  info.resume_count = progress.resume_count;
  info.not_served = progress.not_served;
  info.report = progress.report;
  return info;
}

StoredProgress ProgressOf(const FitInfo& info) {
  return {.progress = info.progress,
          .inference = info.inference,
          .inference_reason = info.inference_reason,
          .resume_count = info.resume_count,
          .history = info.history,
          .not_served = info.not_served,
          .report = info.report};
}

std::vector<std::string> WarningsOf(const FitInfo& info) {
  return info.report ? FitWarnings(*info.report) : std::vector<std::string>();
}

}  // namespace fidelio
