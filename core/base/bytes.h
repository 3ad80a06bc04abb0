// Bytes of checkpoints: little-endian fields inside a checksummed envelope.
//
// Envelope (version 1):
//   0  "FIDELIO\0"                    8 bytes
//   8  kind                           u32: which type wrote it
//  12  version                        u32: of that type's payload
//  16  payload length n               u64
//  24  payload                        n bytes
//  24+n  CRC-32C of bytes 0 … 24+n−1  u32
// Payload fields: u8, u32, u64, i64, f64 (IEEE 754), strings and vectors with a u64 count, matrices with u64 rows, u64
// columns, then column-major f64.
//
// The fields of a struct are listed once, by a function beside it; `out(scaling)` writes them, `in(scaling)` reads
// them:
//   template <typename Bytes>
//   void Fields(Bytes& bytes, Scaling& s) { bytes(s.input_low, s.input_width, s.output_mean, s.output_sd); }
// A field is a bool (u8), int or enumeration (u32), int64_t, uint64_t, double, string, Vector, Matrix, optional (u8,
// then the value if there is one), vector of fields (u64 count), map from strings (u64 count), or a struct with Fields.
#ifndef FIDELIO_CORE_BASE_BYTES_H_
#define FIDELIO_CORE_BASE_BYTES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
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

  template <typename... T>
  void operator()(const T&... fields) {
    (Field(fields), ...);
  }

  // The envelope around all that was written.
  std::string Seal(uint32_t kind, uint32_t version) const;

 private:
  void Field(bool v) { Bool(v); }
  void Field(double v) { F64(v); }
  void Field(int64_t v) { I64(v); }
  void Field(uint64_t v) { U64(v); }
  void Field(const std::string& v) { String(v); }
  void Field(const Vector& v) { Write(v); }
  void Field(const Matrix& v) { Write(v); }
  template <typename T>
  void Field(const std::optional<T>& v) {
    Bool(v.has_value());
    if (v) Field(*v);
  }
  template <typename T>
  void Field(const std::vector<T>& v) {
    U64(v.size());
    for (const T& item : v) Field(item);
  }
  template <typename T>
  void Field(const std::map<std::string, T>& v) {
    U64(v.size());
    for (const auto& [name, value] : v) {
      Field(name);
      Field(value);
    }
  }
  template <typename T>
  void Field(const T& v) {
    if constexpr (std::is_same_v<T, int> || std::is_enum_v<T>) {
      U32(static_cast<uint32_t>(v));
    } else {
      Fields(*this, const_cast<T&>(v));  // which only reads it
    }
  }

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

  template <typename... T>
  void operator()(T&... fields) {
    (Field(fields), ...);
  }
  template <typename T>
  T Read() {
    T value;
    Field(value);
    return value;
  }

  bool ok() const { return !failed_; }

  // OK when everything read was there and nothing is left over.
  absl::Status Finish() const;

 private:
  void Field(bool& v) { v = Bool(); }
  void Field(double& v) { v = F64(); }
  void Field(int64_t& v) { v = I64(); }
  void Field(uint64_t& v) { v = U64(); }
  void Field(std::string& v) { v = ReadString(); }
  void Field(Vector& v) { v = ReadVector(); }
  void Field(Matrix& v) { v = ReadMatrix(); }
  template <typename T>
  void Field(std::optional<T>& v) {
    v.reset();
    if (Bool()) Field(v.emplace());
  }
  template <typename T>
  void Field(std::vector<T>& v) {
    v.clear();
    const uint64_t count = U64();
    for (uint64_t i = 0; i < count && ok(); ++i) Field(v.emplace_back());
  }
  template <typename T>
  void Field(std::map<std::string, T>& v) {
    v.clear();
    const uint64_t count = U64();
    for (uint64_t i = 0; i < count && ok(); ++i) {
      const std::string name = ReadString();
      Field(v[name]);
    }
  }
  template <typename T>
  void Field(T& v) {
    if constexpr (std::is_same_v<T, int> || std::is_enum_v<T>) {
      v = static_cast<T>(U32());
    } else {
      Fields(*this, v);
    }
  }

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
