// RowWriter, RowReader: rows whose last column is a CRC-32C over all the others (FORMAT.md, S1).
//
// Both walk through the columns in the same order, which is that of the CRC:
//   crc = CRC-32C(table ‖ 0 ‖ column₁ ‖ column₂ …),  column = 'i' i64 | 't' u64 bytes | 'b' u64 bytes | 'n',  little-endian
// so that a value that moves to another row, column or table is noticed, too.
#ifndef FIDELIO_SERVER_STORE_ROW_H_
#define FIDELIO_SERVER_STORE_ROW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/store/database.h"

namespace fidelio {

class RowCrc {
 public:
  explicit RowCrc(absl::string_view table);
  void Int(int64_t value);
  void Text(absl::string_view value) { Bytes('t', value); }
  void Blob(absl::string_view value) { Bytes('b', value); }
  void Null();
  uint32_t value() const { return crc_; }

 private:
  void Bytes(char kind, absl::string_view value);
  uint32_t crc_;
};

// Binds the parameters ?1, ?2, … of a statement and, last, the CRC of what was bound.
class RowWriter {
 public:
  RowWriter(Statement& statement, absl::string_view table) : statement_(statement), crc_(table) {}
  RowWriter& Int(int64_t value);
  RowWriter& Time(absl::Time value) { return Int(absl::ToUnixMicros(value)); }
  RowWriter& Text(absl::string_view value);
  RowWriter& Blob(absl::string_view value);
  RowWriter& Null();
  absl::Status Run();

 private:
  Statement& statement_;
  RowCrc crc_;
  int parameter_ = 0;
};

// Reads the columns of the statement's row from left to right. A column of another type than asked for gives zero or
// nothing, and makes Finish fail.
class RowReader {
 public:
  RowReader(const Statement& statement, absl::string_view table) : statement_(statement.get()), crc_(table) {}
  int64_t Int();
  absl::Time Time() { return absl::FromUnixMicros(Int()); }
  std::string Text();
  std::string Blob();
  bool IsNull();  // does not move on
  void Null();

  // DATA_LOSS, naming `what`, unless the checksum in the next column fits and all columns were of the right types.
  // Nothing read before may be used without it.
  absl::Status Finish(absl::string_view what);

 private:
  bool Is(int type);
  sqlite3_stmt* statement_;
  RowCrc crc_;
  int column_ = 0;
  bool mistyped_ = false;
};

// Numbers as blobs: 8 bytes each, little-endian.
absl::string_view BytesOf(absl::Span<const double> values);
absl::string_view BytesOf(absl::Span<const int64_t> values);
std::vector<double> DoublesOf(absl::string_view bytes);    // bytes.size() must be a multiple of 8
std::vector<int64_t> IntegersOf(absl::string_view bytes);  // the same

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STORE_ROW_H_
