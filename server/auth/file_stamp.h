// FileStamp: what tells whether a file has changed: device, inode, size, and the times of its content and of its inode.
#ifndef FIDELIO_SERVER_AUTH_FILE_STAMP_H_
#define FIDELIO_SERVER_AUTH_FILE_STAMP_H_

#include <cstdint>
#include <string>

namespace fidelio {

struct FileStamp {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t size = -1;  // -1: there is no such file
  int64_t content_nanoseconds = 0;
  int64_t inode_nanoseconds = 0;

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

FileStamp StampOf(const std::string& path);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_AUTH_FILE_STAMP_H_
