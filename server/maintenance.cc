#include "server/maintenance.h"

#include <filesystem>
#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/control_socket.h"
#include "server/store/sqlite_store.h"

namespace fidelio {
namespace {

// A directory without data is a mistake here, where for a server it is a beginning.
absl::Status NeedData(const std::string& directory) {
  std::error_code ignored;
  if (std::filesystem::exists(directory + "/fidelio.db", ignored)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("data_dir = \"", directory, "\": has no fidelio.db"));
}

}  // namespace

absl::Status CheckDataDirectory(const std::string& directory, std::ostream& out) {
  FIDELIO_RETURN_IF_ERROR(NeedData(directory));
  FIDELIO_ASSIGN_OR_RETURN(
      const std::unique_ptr<Store> store,
      OpenSqliteStore({.directory = directory, .on_repair = [&out](const std::string& what) { out << what << "\n"; }}));
  FIDELIO_ASSIGN_OR_RETURN(const std::vector<Finding> findings, store->Check());
  for (const Finding& finding : findings) {
    out << (finding.model.empty() ? "the store" : "models/" + finding.model) << ": " << finding.text << "\n";
  }
  if (!findings.empty()) {
    return absl::DataLossError(absl::StrCat("data_dir = \"", directory, "\": ", findings.size(), " problems"));
  }
  out << directory << ": all checksums and invariants hold\n";
  return absl::OkStatus();
}

absl::Status BackUpDataDirectory(const std::string& directory, const std::string& file, std::ostream& out) {
  FIDELIO_RETURN_IF_ERROR(NeedData(directory));
  std::error_code error;
  const std::string path = std::filesystem::absolute(file, error).string();
  if (error) return absl::InvalidArgumentError(absl::StrCat("--backup ", file, ": ", error.message()));
  absl::Status status = RequestBackup(directory, path);
  if (absl::IsUnavailable(status)) {
    FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenSqliteStore({.directory = directory}));
    status = store->Backup(path);
  }
  FIDELIO_RETURN_IF_ERROR(status);
  out << path << ": " << std::filesystem::file_size(path, error) << " bytes\n";
  return absl::OkStatus();
}

}  // namespace fidelio
