#include "server/store/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace fidelio {
namespace {

constexpr mode_t kPrivate = S_IRUSR | S_IWUSR;

// Of a file that exists, and is one: what is not opened here is refused by SQLite, with its reason.
void Restrict(const std::string& path) {
  struct stat now;
  if (lstat(path.c_str(), &now) != 0 || !S_ISREG(now.st_mode) || (now.st_mode & 077) == 0) return;
  // The file of another owner, whose group this user is in, stays as it is.
  (void)!chmod(path.c_str(), now.st_mode & 0700);
}

}  // namespace

absl::Status MakePrivate(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kPrivate);
  if (file < 0 && errno != EEXIST) {
    const int error = errno;
    const std::string text = absl::StrCat("can't make \"", path, "\": ", strerror(error));
    const bool full = error == ENOSPC || error == EDQUOT || error == EMFILE || error == ENFILE;
    return full ? absl::ResourceExhaustedError(text) : absl::FailedPreconditionError(text);
  }
  if (file >= 0) {
    (void)!fchmod(file, kPrivate);  // the umask may have taken more
    close(file);
    return absl::OkStatus();
  }
  Restrict(path);
  Restrict(path + "-journal");
  return absl::OkStatus();
}

}  // namespace fidelio
