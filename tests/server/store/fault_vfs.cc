#include "tests/server/store/fault_vfs.h"

#include <cerrno>

#include "absl/strings/str_cat.h"

namespace fidelio {
namespace {

// Followed in memory by the file of the real system.
struct FaultFile {
  sqlite3_file base;
  FaultVfs* faults;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

FaultFile* Of(sqlite3_file* file) { return reinterpret_cast<FaultFile*>(file); }
sqlite3_file* Real(sqlite3_file* file) { return Of(file)->real(); }

int Write(sqlite3_file* f, const void* data, int size, sqlite3_int64 offset) {
  sqlite3_int64 length = 0;
  if (const int result = Real(f)->pMethods->xFileSize(Real(f), &length); result != SQLITE_OK) return result;
  const int result = Of(f)->faults->Write(offset + size > length);
  return result == SQLITE_OK ? Real(f)->pMethods->xWrite(Real(f), data, size, offset) : result;
}

int Sync(sqlite3_file* f, int flags) {
  bool skip = false;
  const int result = Of(f)->faults->Sync(skip);
  return result == SQLITE_OK && !skip ? Real(f)->pMethods->xSync(Real(f), flags) : result;
}

int FileControl(sqlite3_file* f, int op, void* arg) {
  if (op == SQLITE_FCNTL_PRAGMA) {
    const char* const* words = static_cast<char**>(arg);  // an answer, the name, and the value or null
    if (words[2] != nullptr && Of(f)->faults->ignored_pragma == words[1]) return SQLITE_OK;  // done, it says
  }
  return Real(f)->pMethods->xFileControl(Real(f), op, arg);
}

const sqlite3_io_methods kMethods = {
    1,
    [](sqlite3_file* f) { return Real(f)->pMethods->xClose(Real(f)); },
    [](sqlite3_file* f, void* data, int n, sqlite3_int64 o) { return Real(f)->pMethods->xRead(Real(f), data, n, o); },
    Write,
    [](sqlite3_file* f, sqlite3_int64 size) { return Real(f)->pMethods->xTruncate(Real(f), size); },
    Sync,
    [](sqlite3_file* f, sqlite3_int64* size) { return Real(f)->pMethods->xFileSize(Real(f), size); },
    [](sqlite3_file* f, int lock) { return Real(f)->pMethods->xLock(Real(f), lock); },
    [](sqlite3_file* f, int lock) { return Real(f)->pMethods->xUnlock(Real(f), lock); },
    [](sqlite3_file* f, int* out) { return Real(f)->pMethods->xCheckReservedLock(Real(f), out); },
    FileControl,
    [](sqlite3_file* f) { return Real(f)->pMethods->xSectorSize(Real(f)); },
    [](sqlite3_file* f) { return Real(f)->pMethods->xDeviceCharacteristics(Real(f)); },
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
};

int Open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* file, int flags, int* out_flags) {
  auto* faults = static_cast<FaultVfs*>(vfs->pAppData);
  FaultFile* fault_file = Of(file);
  fault_file->faults = faults;
  const int result = faults->real()->xOpen(faults->real(), name, fault_file->real(), flags, out_flags);
  fault_file->base.pMethods = fault_file->real()->pMethods == nullptr ? nullptr : &kMethods;
  return result;
}

// Counts down; true from zero on.
bool Exhausted(int64_t& left) {
  if (left < 0) return false;
  if (left == 0) return true;
  --left;
  return false;
}

}  // namespace

FaultVfs::FaultVfs() : real_(sqlite3_vfs_find(nullptr)), vfs_(*real_) {
  name_ = absl::StrCat("fault-", reinterpret_cast<uintptr_t>(this));
  vfs_.zName = name_.c_str();
  vfs_.pNext = nullptr;
  vfs_.pAppData = this;
  vfs_.szOsFile = static_cast<int>(sizeof(FaultFile)) + real_->szOsFile;
  vfs_.xOpen = Open;
  // The other methods of SQLite's Unix file system use nothing of the VFS that is ours.
  sqlite3_vfs_register(&vfs_, 0);
}

FaultVfs::~FaultVfs() { sqlite3_vfs_unregister(&vfs_); }

int FaultVfs::Write(bool grows) {
  ++writes;
  if (grows && Exhausted(growths_until_full) && !Exhausted(refusals_until_space)) {
    errno = ENOSPC;
    return SQLITE_FULL;
  }
  if (Exhausted(writes_until_error)) {
    if (write_errno != 0) errno = write_errno;
    return SQLITE_IOERR_WRITE;
  }
  return SQLITE_OK;
}

int FaultVfs::Sync(bool& skip) {
  ++syncs;
  if (before_sync) before_sync();
  skip = skip_syncs;
  if (!Exhausted(syncs_until_error)) return SQLITE_OK;
  errno = EIO;
  return SQLITE_IOERR_FSYNC;
}

}  // namespace fidelio
