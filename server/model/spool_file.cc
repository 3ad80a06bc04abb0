#include "server/model/spool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/str_cat.h"

namespace fidelio {
namespace {

absl::Status FileError(int error, absl::string_view what) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return absl::ErrnoToStatus(error, what).code() == absl::StatusCode::kResourceExhausted || full
             ? absl::ResourceExhaustedError(absl::ErrnoToStatus(error, what).message())
             : absl::InternalError(absl::ErrnoToStatus(error, what).message());
}

}  // namespace

absl::StatusOr<std::unique_ptr<SpoolFile>> SpoolFile::Create(const std::string& directory) {
  std::error_code ignored;
  const std::string place = directory.empty() ? std::filesystem::temp_directory_path(ignored).string() : directory;
  int descriptor = open(place.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) {  // not every file system has files without names
    std::string name = place + "/fidelio-spool-XXXXXX";
    descriptor = mkostemp(name.data(), O_CLOEXEC);
    if (descriptor < 0) return FileError(errno, absl::StrCat("can't make a temporary file in \"", place, "\""));
    unlink(name.c_str());
  }
  return std::unique_ptr<SpoolFile>(new SpoolFile(descriptor));
}

SpoolFile::~SpoolFile() { close(descriptor_); }

absl::Status SpoolFile::Append(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(descriptor_, bytes.data(), bytes.size(), size_);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return FileError(written < 0 ? errno : ENOSPC, "can't write a temporary file");
    size_ += written;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> SpoolFile::Read(int64_t offset, size_t count) const {
  std::string bytes(count, '\0');
  for (size_t done = 0; done < count;) {
    const ssize_t got = pread(descriptor_, bytes.data() + done, count - done, offset + static_cast<int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return FileError(got < 0 ? errno : EIO, "can't read a temporary file");
    done += static_cast<size_t>(got);
  }
  return bytes;
}

}  // namespace fidelio
