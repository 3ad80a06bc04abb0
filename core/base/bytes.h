// Bytes of checkpoints: little-endian fields inside a checksummed envelope.
//
// Envelope (version 1):
//   0  "FIDELIO\0"                    8 bytes
//   8  kind                           u32: which type wrote it
//  12  version                        u32: of that type's payload
//  16  payload length n               u64
//  24  payload                        n bytes
//  24+n  CRC-32C of bytes 0 … 24+n−1  u32
// Payload fields: u8, u32, u64, i64, f64 (IEEE 754), strings and vectors with a u64 count, matrices with u64 rows, u64 columns,
// then column-major f64.
#ifndef FIDELIO_CORE_BASE_BYTES_H_
#define FIDELIO_CORE_BASE_BYTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/crc32c.h"
#include "core/base/export.h"
#include "core/base/types.h"

namespace fidelio {

class FIDELIO_EXPORT ByteWriter {
 public:
  void U32(uint32_t v) { Little(v, 4); }
  void U64(uint64_t v) { Little(v, 8); }
  void I64(int64_t v) { Little(static_cast<uint64_t>(v), 8); }
  void Bool(bool v) { Little(v ? 1 : 0, 1); }
  void F64(double v);
  void String(absl::string_view v);
  void Write(const Vector& v);
  void Write(const Matrix& m);
  void Write(const std::vector<Vector>& vs);

  // The envelope around all that was written.
  std::string Seal(uint32_t kind, uint32_t version) const;

 private:
  void Little(uint64_t v, int bytes);
  std::string payload_;
};

// Reads what ByteWriter wrote. After a read past the end, or of an impossible size, every further read gives zeros and
// status() says so: check it once at the end, before using what was read.
class FIDELIO_EXPORT ByteReader {
 public:
  struct Opened;
  // Checks magic, kind, length and checksum. `want` names the kind for messages.
  static absl::StatusOr<Opened> Open(absl::string_view bytes, uint32_t kind, uint32_t newest_version,
                                     absl::string_view want);

  // The kind that a header names, nothing else checked; 0 when there is no header.
  static uint32_t KindOf(absl::string_view bytes);

  explicit ByteReader(absl::string_view payload) : rest_(payload) {}

  uint32_t U32() { return static_cast<uint32_t>(Little(4)); }
  uint64_t U64() { return Little(8); }
  int64_t I64() { return static_cast<int64_t>(Little(8)); }
  bool Bool() { return Little(1) != 0; }
  double F64();
  std::string ReadString();
  Vector ReadVector();
  Matrix ReadMatrix();
  std::vector<Vector> ReadVectors();

  bool ok() const { return !failed_; }

  // OK when everything read was there and nothing is left over.
  absl::Status Finish() const;

 private:
  uint64_t Little(int bytes);
  uint64_t Count(uint64_t unit);  // a count of items of `unit` bytes that still fit
  absl::string_view rest_;
  bool failed_ = false;
};

struct ByteReader::Opened {
  ByteReader reader;
  uint32_t version;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASE_BYTES_H_
