#include "server/config/port_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace fidelio {

absl::Status WritePortFile(const std::string& path, int port) {
  const std::string temporary = absl::StrCat(path, ".", getpid());
  std::ofstream stream(temporary, std::ios::trunc);
  stream << port << "\n";
  stream.close();
  if (!stream || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    std::remove(temporary.c_str());
    return absl::InvalidArgumentError(
        absl::StrCat("port_file = \"", path, "\": must be a file that can be written: ", std::strerror(error)));
  }
  return absl::OkStatus();
}

}  // namespace fidelio
