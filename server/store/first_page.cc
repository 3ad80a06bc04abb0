#include "server/store/first_page.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/base/status_macros.h"
#include "server/store/database.h"
#include "server/store/schema.h"

namespace fidelio {
namespace {

constexpr size_t kPageBytes = 4096;
using Page = std::vector<char>;

// Fields of SQLite's header that change: counters, the file's size, free pages, and the version of the library.
// user_version is not restored either: another value may be that of a newer program.
bool IsConstant(size_t byte) {
  return !(byte >= 24 && byte < 40) && !(byte >= 60 && byte < 64) && !(byte >= 92 && byte < 100);
}

absl::Status SystemError(const std::string& path) {
  return absl::UnavailableError(absl::StrCat("\"", path, "\": ", strerror(errno)));
}

absl::StatusOr<Page> ReadPage(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return SystemError(path);
  const absl::Cleanup end = [file] { close(file); };
  Page page(kPageBytes);
  if (pread(file, page.data(), page.size(), 0) != static_cast<ssize_t>(page.size())) return SystemError(path);
  return page;
}

absl::Status WritePage(const std::string& path, const Page& page) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return SystemError(path);
  const absl::Cleanup end = [file] { close(file); };
  if (pwrite(file, page.data(), page.size(), 0) != static_cast<ssize_t>(page.size())) return SystemError(path);
  return fsync(file) == 0 ? absl::OkStatus() : SystemError(path);
}

// That of a new store of a version.
absl::StatusOr<Page> NewPage(const std::string& path, const std::string& vfs, int version) {
  const auto remove = [&path] {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    std::filesystem::remove(path + "-journal", ignored);
  };
  remove();  // what a crash has left
  const absl::Cleanup end = remove;
  {
    FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<Database> database,
                             Database::Open({path, vfs, /*cache_bytes=*/1 << 20, /*on_fatal=*/nullptr}));
    FIDELIO_RETURN_IF_ERROR(CreateSchema(*database, absl::UnixEpoch(), version));
  }
  return ReadPage(path);
}

}  // namespace

absl::StatusOr<int> RestoreFirstPage(const std::string& path, const std::string& vfs) {
  std::error_code error;
  const auto journal = std::filesystem::file_size(path + "-journal", error);
  if (!error && journal > 0) return 0;
  FIDELIO_ASSIGN_OR_RETURN(Page page, ReadPage(path));
  const int version = static_cast<unsigned char>(page[63]);  // the last byte of user_version, which is big-endian
  if (version < 1 || version > kFormatVersion) return 0;
  FIDELIO_ASSIGN_OR_RETURN(const Page want, NewPage(path + "-new", vfs, version));
  if (std::memcmp(&page[60], &want[60], 4) != 0) return 0;
  int restored = 0;
  for (size_t i = 0; i < kPageBytes; ++i) {
    if (!IsConstant(i) || page[i] == want[i]) continue;
    page[i] = want[i];
    if (++restored > kMaxRestoredBytes) return 0;
  }
  if (restored > 0) FIDELIO_RETURN_IF_ERROR(WritePage(path, page));
  return restored;
}

}  // namespace fidelio
