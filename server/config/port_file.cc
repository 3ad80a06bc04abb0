#include "server/config/port_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace fidelio {

absl::Status WritePortFile(const std::string& path, int port) {
  const std::string temporary = absl::StrCat(path, ".", getpid());
  const std::string text = absl::StrCat(port, "\n");
  const auto failed = [&](int error) {
    std::remove(temporary.c_str());
    return absl::InvalidArgumentError(
        absl::StrCat("port_file = \"", path, "\": must be a file that can be written: ", std::strerror(error)));
  };
  // For others to read, as far as the umask allows: a port is no secret.
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return failed(errno);
  const ssize_t written = write(file, text.data(), text.size());
  const int error = written < 0 ? errno : written < static_cast<ssize_t>(text.size()) ? ENOSPC : 0;
  close(file);
  if (error != 0) return failed(error);
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return failed(errno);
  return absl::OkStatus();
}

}  // namespace fidelio
