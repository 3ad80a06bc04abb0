#include "client/cli/file_warnings.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/words.h"

namespace fidelio::cli {
namespace {

constexpr int64_t kMostIds = 8;  // in a command that is proposed

Words<v1::ObservationWarningKind> WarningWords() {
  return WordsOf<v1::ObservationWarningKind>(v1::ObservationWarningKind_descriptor(), "OBSERVATION_WARNING_KIND_");
}

int64_t CountRows(const ObservationTable& observations) {
  int64_t count = 0;
  for (const auto& rows : observations.rows) count += static_cast<int64_t>(rows.size());
  return count;
}

}  // namespace

std::string RowsText(const std::vector<int64_t>& rows, int64_t count) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < rows.size();) {
    size_t end = i + 1;
    while (end < rows.size() && rows[end] == rows[end - 1] + 1) ++end;
    if (end - i == 1) {
      parts.push_back(absl::StrCat(rows[i]));
    } else {
      parts.push_back(absl::StrCat(rows[i], "-", rows[end - 1]));
    }
    i = end;
  }
  const int64_t more = count - static_cast<int64_t>(rows.size());
  return absl::StrCat(count == 1 ? "row " : "rows ", absl::StrJoin(parts, ", "),
                      more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

void FileWarnings::Add(const client::AddedObservations& added, const DataTable& table,
                       const ObservationTable& observations) {
  const int64_t sent = CountRows(observations);
  rows_ += sent;
  data_versions_.push_back(added.data_version);
  for (const client::ObservationWarning& warning : added.warnings) {
    auto known =
        std::find_if(warnings_.begin(), warnings_.end(), [&](const Warning& w) { return w.kind == warning.kind; });
    if (known == warnings_.end()) known = warnings_.insert(known, Warning{.kind = warning.kind});
    known->count += warning.count;
    known->message = warning.message;
    std::vector<std::pair<int64_t, std::string>> found;  // rows of the file and their ids
    for (const int64_t row : warning.rows) {
      int64_t i = row;
      size_t batch = 0;
      while (batch < observations.rows.size() && i >= static_cast<int64_t>(observations.rows[batch].size())) {
        i -= static_cast<int64_t>(observations.rows[batch++].size());
      }
      if (batch == observations.rows.size()) continue;
      const std::vector<std::string>& ids = observations.batches[batch].run_ids;
      // The server numbers what a call adds, so that ids are known when it added every row.
      std::string id = !ids.empty()          ? ids[static_cast<size_t>(i)]
                       : added.added == sent ? absl::StrCat(added.data_version, "-", row + 1)
                                             : "";
      known->ids_known = known->ids_known && !id.empty();
      found.emplace_back(table.RowNumber(observations.rows[batch][static_cast<size_t>(i)]), std::move(id));
    }
    // Rows of a request are ordered by fidelity.
    std::sort(found.begin(), found.end());
    for (auto& [row, id] : found) {
      if (known->rows.size() == client::kMostWarningRows) break;
      known->rows.push_back(row);
      known->ids.push_back(std::move(id));
    }
  }
}

std::string FileWarnings::DuplicateSentence(const Warning& warning, const std::string& model, bool skipped) const {
  const bool all = warning.count == rows_;
  const std::string what =
      absl::StrCat(warning.count, " of ", rows_, rows_ == 1 ? " row" : " rows",
                   warning.count == 1 ? " is an exact copy" : " are exact copies",
                   warning.count == 1 ? " of a stored observation" : " of stored observations",
                   all ? "" : absl::StrCat(" or of earlier rows (", RowsText(warning.rows, warning.count), ")"));
  if (skipped) return absl::StrCat(what, warning.count == 1 ? " and was left out" : " and were left out");
  const std::string withdraw = absl::StrCat("`fidelio observations withdraw ", model);
  if (!all && warning.ids_known && warning.count <= kMostIds) {
    return absl::StrCat(what, "; remove ", warning.count == 1 ? "it" : "them", " with ", withdraw, " ",
                        absl::StrJoin(warning.ids, " "), "`");
  }
  std::vector<std::string> commands;
  for (const int64_t version : data_versions_) commands.push_back(absl::StrCat(withdraw, " --batch ", version, "`"));
  if (all) {
    return absl::StrCat(what, "; remove ", warning.count == 1 ? "it" : "them", " with ", absl::StrJoin(commands, ", "));
  }
  return absl::StrCat(what, "; to leave copies out, take the file back with ", absl::StrJoin(commands, ", "),
                      " and observe it again with --skip-duplicates");
}

std::string FileWarnings::Sentence(const Warning& warning, const std::string& model, bool skipped) const {
  if (warning.kind == v1::OBSERVATION_WARNING_KIND_DUPLICATE) return DuplicateSentence(warning, model, skipped);
  if (warning.kind != v1::OBSERVATION_WARNING_KIND_FAR_OUTSIDE_BOX) {
    return warning.message.empty() ? absl::StrCat("warning about ", RowsText(warning.rows, warning.count))
                                   : warning.message;
  }
  const std::string what =
      absl::StrCat(warning.count, " of ", rows_, rows_ == 1 ? " row" : " rows", warning.count == 1 ? " lies" : " lie",
                   " more than three box widths outside the model's box (", RowsText(warning.rows, warning.count),
                   "): a typo, or a wrong unit?");
  if (!warning.ids_known || warning.count > kMostIds) {
    return absl::StrCat(what, " `fidelio observations list ", model, "` shows the ids by which to withdraw them");
  }
  return absl::StrCat(what, " `fidelio observations withdraw ", model, " ", absl::StrJoin(warning.ids, " "),
                      "` removes ", warning.count == 1 ? "it" : "them");
}

std::vector<std::string> FileWarnings::Text(const std::string& model, bool skipped) const {
  std::vector<std::string> sentences;
  for (const Warning& warning : warnings_) sentences.push_back(Sentence(warning, model, skipped));
  return sentences;
}

Json FileWarnings::ToJson(const std::string& model, bool skipped) const {
  Json list = Json::array();
  for (const Warning& warning : warnings_) {
    list.push_back({{"kind", WordFor(WarningWords(), warning.kind)},
                    {"count", warning.count},
                    {"rows", warning.rows},
                    {"run_ids", warning.ids_known ? Json(warning.ids) : Json::array()},
                    {"message", Sentence(warning, model, skipped)}});
  }
  return list;
}

}  // namespace fidelio::cli
