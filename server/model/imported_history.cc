#include "server/model/imported_history.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/model/observation_history.h"
#include "server/model/validate.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

template <typename... Args>
absl::Status BadHistory(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat("chunk: the file holds ", args...));
}

}  // namespace

absl::Status ImportedHistory::Add(const FileObservations& part) {
  if (part.data_version < 1 || part.data_version < version_ || part.data_version > version_ + 1) {
    return BadHistory("batch ", part.data_version, " of observations after batch ", version_);
  }
  if (part.data_version > version_) {
    version_ = part.data_version;
    part_ = 0;
    corrects_ = false;
  }
  if (part.withdrawn) {
    if (part_ > 0) return BadHistory("a withdrawal in the middle of batch ", version_);
    FIDELIO_RETURN_IF_ERROR(Withdraw(*part.withdrawn));
    corrects_ = part.withdrawn->corrected;
  } else {
    const ObservationBlock& b = part.block;
    FIDELIO_RETURN_IF_ERROR(AddIds(b));
    blocks_[{version_, part_}] = {b.level, std::vector<bool>(static_cast<size_t>(b.rows), false), b.run_ids};
    in_use_[static_cast<size_t>(b.level)] += b.rows;
    rows_ += b.rows;
  }
  ++part_;
  return absl::OkStatus();
}

absl::Status ImportedHistory::AddIds(const ObservationBlock& block) {
  if (!block.run_ids.empty() && static_cast<int64_t>(block.run_ids.size()) != block.rows) {
    return BadHistory(block.run_ids.size(), " ids of ", block.rows, " observations");
  }
  for (const std::string& id : block.run_ids) {
    if (!IsRunId(id) || (IsMadeRunId(id) && !corrects_)) return BadHistory("an observation with the id ", Quoted(id));
    if (!run_ids_.insert(id).second) return BadHistory("two observations in use with the id ", Quoted(id));
  }
  return absl::OkStatus();
}

absl::Status ImportedHistory::Withdraw(const WithdrawnRows& withdrawn) {
  if (withdrawn.rows.empty() || withdrawn.reason.size() > kMaxReasonBytes) {
    return BadHistory("a withdrawal of ", withdrawn.rows.size(), " ranges with a reason of ", withdrawn.reason.size(),
                      " bytes");
  }
  for (const RowRange& range : withdrawn.rows) {
    const auto found = blocks_.find({range.data_version, range.part});
    if (found == blocks_.end() || range.data_version >= version_ || found->second.level != range.level ||
        range.first < 0 || range.count < 1 ||
        range.count > static_cast<int64_t>(found->second.gone.size()) - range.first) {
      return BadHistory("a withdrawal of observations that it does not have");
    }
    Block& block = found->second;
    for (int64_t row = range.first; row < range.first + range.count; ++row) {
      const auto i = static_cast<size_t>(row);
      if (block.gone[i]) return BadHistory("an observation that is withdrawn twice");
      block.gone[i] = true;
      if (!block.run_ids.empty()) run_ids_.erase(block.run_ids[i]);
    }
    in_use_[static_cast<size_t>(range.level)] -= range.count;
  }
  AddWithdrawn(withdrawn.rows, version_, withdrawn_);
  return absl::OkStatus();
}

}  // namespace fidelio
