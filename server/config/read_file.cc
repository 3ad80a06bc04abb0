#include "server/config/read_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace fidelio {
namespace {

constexpr size_t kMostBytes = 16 << 20;

absl::Status CannotRead(int error) {
  return absl::InvalidArgumentError(absl::StrCat("must be a file that can be read: ", std::strerror(error)));
}

}  // namespace

absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  // Non-blocking, so that a named pipe without a writer is an empty file, not a hang.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return CannotRead(errno);
  std::string text;
  char buffer[1 << 16];
  ssize_t got;
  while ((got = read(file, buffer, sizeof(buffer))) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int error = errno;
      close(file);
      return CannotRead(error);
    }
    text.append(buffer, static_cast<size_t>(got));
    if (text.size() > kMostBytes) {
      close(file);
      return absl::InvalidArgumentError("must be a file of at most 16 MiB");
    }
  }
  close(file);
  return text;
}

}  // namespace fidelio
