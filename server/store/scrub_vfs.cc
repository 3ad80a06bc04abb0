#include "server/store/scrub_vfs.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace fidelio {
namespace {

constexpr int kMaxPageSize = 65536;

// Followed in memory by the file of the base.
struct ScrubFile {
  sqlite3_file file;
  ScrubVfs* vfs;
  bool is_database;
  sqlite3_file* base() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

ScrubFile* Of(sqlite3_file* file) { return reinterpret_cast<ScrubFile*>(file); }

sqlite3_file* Base(sqlite3_file* file) { return Of(file)->base(); }

const sqlite3_io_methods* Methods(sqlite3_file* file) { return Base(file)->pMethods; }

// Calls a method of the base. errno is cleared before: what it says afterwards is this call's.
template <typename Method, typename... Args>
int Run(sqlite3_file* file, Method method, Args... args) {
  errno = 0;
  const int result = method(Base(file), args...);
  Of(file)->vfs->NoteResult(result, errno);
  return result;
}

int Write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  unsigned char scrubbed[kMaxPageSize];
  const bool whole_page = size >= 512 && size <= kMaxPageSize && offset % size == 0;
  if (Of(file)->is_database && whole_page &&
      ScrubPage(static_cast<const unsigned char*>(data), size, offset / size + 1, scrubbed)) {
    data = scrubbed;
  }
  return Run(file, Methods(file)->xWrite, data, size, offset);
}

// Version 1: neither memory-mapped files nor the shared memory of a write-ahead log, which the store must not use.
constexpr sqlite3_io_methods kMethods = {
    1,
    [](sqlite3_file* f) { return Run(f, Methods(f)->xClose); },
    [](sqlite3_file* f, void* data, int n, sqlite3_int64 o) { return Run(f, Methods(f)->xRead, data, n, o); },
    Write,
    [](sqlite3_file* f, sqlite3_int64 size) { return Run(f, Methods(f)->xTruncate, size); },
    [](sqlite3_file* f, int flags) { return Run(f, Methods(f)->xSync, flags); },
    [](sqlite3_file* f, sqlite3_int64* size) { return Run(f, Methods(f)->xFileSize, size); },
    [](sqlite3_file* f, int lock) { return Run(f, Methods(f)->xLock, lock); },
    [](sqlite3_file* f, int lock) { return Run(f, Methods(f)->xUnlock, lock); },
    [](sqlite3_file* f, int* out) { return Run(f, Methods(f)->xCheckReservedLock, out); },
    [](sqlite3_file* f, int op, void* arg) { return Methods(f)->xFileControl(Base(f), op, arg); },
    [](sqlite3_file* f) { return Methods(f)->xSectorSize(Base(f)); },
    [](sqlite3_file* f) { return Methods(f)->xDeviceCharacteristics(Base(f)); },
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
};

int Open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* file, int flags, int* out_flags) {
  auto* scrub = static_cast<ScrubVfs*>(vfs->pAppData);
  ScrubFile* opened = Of(file);
  opened->vfs = scrub;
  opened->is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
  errno = 0;
  const int result = scrub->base()->xOpen(scrub->base(), name, opened->base(), flags, out_flags);
  scrub->NoteResult(result, errno);
  opened->file.pMethods = opened->base()->pMethods == nullptr ? nullptr : &kMethods;
  return result;
}

}  // namespace

bool ScrubPage(const unsigned char* page, int size, int64_t number, unsigned char* scrubbed) {
  const int header = number == 1 ? 100 : 0;  // page 1 begins with the header of the file
  const unsigned char* const btree = page + header;
  const int kind = btree[0];
  const bool interior = kind == 0x02 || kind == 0x05;
  if (!interior && kind != 0x0A && kind != 0x0D) return false;
  const int cells = btree[3] << 8 | btree[4];
  const int contents = btree[5] << 8 | btree[6];
  const int begin = header + (interior ? 12 : 8) + 2 * cells;
  const int end = contents == 0 ? kMaxPageSize : contents;
  if (begin >= end || end > size) return false;
  if (std::all_of(page + begin, page + end, [](unsigned char byte) { return byte == 0; })) return false;
  std::memcpy(scrubbed, page, size);
  std::memset(scrubbed + begin, 0, end - begin);
  return true;
}

absl::StatusOr<std::unique_ptr<ScrubVfs>> ScrubVfs::Register(const std::string& base) {
  sqlite3_vfs* found = sqlite3_vfs_find(base.empty() ? nullptr : base.c_str());
  if (found == nullptr) return absl::InvalidArgumentError(absl::StrCat("vfs: SQLite knows no \"", base, "\""));
  std::unique_ptr<ScrubVfs> vfs(new ScrubVfs(found));
  sqlite3_vfs_register(&vfs->vfs_, 0);
  return vfs;
}

ScrubVfs::ScrubVfs(sqlite3_vfs* base) : base_(base), vfs_(*base) {
  name_ = absl::StrCat("fidelio-scrub-", absl::Hex(reinterpret_cast<uintptr_t>(this)));
  vfs_.zName = name_.c_str();
  vfs_.pNext = nullptr;
  vfs_.pAppData = this;
  vfs_.szOsFile = static_cast<int>(sizeof(ScrubFile)) + base->szOsFile;
  vfs_.xOpen = Open;  // the other methods deal with paths, not with files, and stay the base's
}

ScrubVfs::~ScrubVfs() { sqlite3_vfs_unregister(&vfs_); }

void ScrubVfs::NoteResult(int result, int error) {
  if (result == SQLITE_OK) return;
  failed_result_ = result;
  failed_errno_ = error;
}

int ScrubVfs::ErrnoOf(int result) const { return result == failed_result_ ? failed_errno_ : 0; }

void ScrubVfs::Forget() { failed_result_ = failed_errno_ = 0; }

}  // namespace fidelio
