#include "server/store/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace fidelio {
namespace {

absl::Status SystemError(absl::string_view doing, const std::string& path, int error) {
  const std::string text = absl::StrCat(doing, " \"", path, "\": ", strerror(error));
  if (error == ENOSPC || error == EDQUOT || error == EMFILE || error == ENFILE)
    return absl::ResourceExhaustedError(text);
  return absl::FailedPreconditionError(text);
}

absl::Status MakeDirectories(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> missing;
  std::error_code ignored;
  for (auto p = path; !p.empty() && !std::filesystem::exists(p, ignored); p = p.parent_path()) missing.push_back(p);
  for (auto p = missing.rbegin(); p != missing.rend(); ++p) {
    if (mkdir(p->c_str(), 0700) == 0) {
      (void)!chmod(p->c_str(), 0700);  // the umask may have taken more
    } else if (errno != EEXIST) {
      return SystemError("can't make directory", p->string(), errno);
    }
    // The new name is durable only once its parent is synced.
    FIDELIO_RETURN_IF_ERROR(SyncPath(p->has_parent_path() ? p->parent_path().string() : "."));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SyncPath(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return SystemError("can't open", path, errno);
  const int error = fsync(descriptor) == 0 ? 0 : errno;
  close(descriptor);
  return error == 0 ? absl::OkStatus() : SystemError("can't sync", path, error);
}

absl::StatusOr<std::unique_ptr<DataDirectory>> DataDirectory::Open(const std::string& path) {
  // Without a trailing slash, which would make an empty last component.
  const std::filesystem::path normal = std::filesystem::path(absl::StrCat(path, "/.")).lexically_normal().parent_path();
  FIDELIO_RETURN_IF_ERROR(MakeDirectories(normal));
  const int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return SystemError("can't open the data directory", path, errno);
  std::unique_ptr<DataDirectory> directory(new DataDirectory(descriptor));
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return SystemError("can't lock the data directory", path, errno);
    return absl::FailedPreconditionError(absl::StrCat(
        "the data directory \"", path, "\" is in use by another server; stop that one, or choose another directory"));
  }
  return directory;
}

DataDirectory::~DataDirectory() { close(descriptor_); }

}  // namespace fidelio
