#include "server/auth/file_stamp.h"

#include <sys/stat.h>

namespace fidelio {

FileStamp StampOf(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return {};
  const auto nanoseconds = [](const timespec& time) { return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec; };
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = status.st_size,
          .content_nanoseconds = nanoseconds(status.st_mtim),
          .inode_nanoseconds = nanoseconds(status.st_ctim)};
}

}  // namespace fidelio
