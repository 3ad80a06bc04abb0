#include "server/store/row.h"

#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "core/base/crc32c.h"

namespace fidelio {
namespace {

// Numbers go to disk as they are in memory.
static_assert(std::endian::native == std::endian::little);

absl::string_view Raw(const int64_t& value) { return {reinterpret_cast<const char*>(&value), sizeof(value)}; }

template <typename T>
std::vector<T> NumbersOf(absl::string_view bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace

RowCrc::RowCrc(absl::string_view table) : crc_(Crc32c(table)) { crc_ = ExtendCrc32c(crc_, absl::string_view("\0", 1)); }

void RowCrc::Int(int64_t value) {
  crc_ = ExtendCrc32c(crc_, "i");
  crc_ = ExtendCrc32c(crc_, Raw(value));
}

void RowCrc::Null() { crc_ = ExtendCrc32c(crc_, "n"); }

void RowCrc::Bytes(char kind, absl::string_view value) {
  crc_ = ExtendCrc32c(crc_, absl::string_view(&kind, 1));
  crc_ = ExtendCrc32c(crc_, Raw(static_cast<int64_t>(value.size())));
  crc_ = ExtendCrc32c(crc_, value);
}

RowWriter& RowWriter::Int(int64_t value) {
  statement_.BindInt(++parameter_, value);
  crc_.Int(value);
  return *this;
}

RowWriter& RowWriter::Text(absl::string_view value) {
  statement_.BindText(++parameter_, value);
  crc_.Text(value);
  return *this;
}

RowWriter& RowWriter::Blob(absl::string_view value) {
  statement_.BindBlob(++parameter_, value);
  crc_.Blob(value);
  return *this;
}

RowWriter& RowWriter::Null() {
  statement_.BindNull(++parameter_);
  crc_.Null();
  return *this;
}

absl::Status RowWriter::Run() {
  statement_.BindInt(++parameter_, crc_.value());
  return statement_.Run();
}

bool RowReader::Is(int type) {
  const bool is = sqlite3_column_type(statement_, column_) == type;
  mistyped_ |= !is;
  return is;
}

int64_t RowReader::Int() {
  const int64_t value = Is(SQLITE_INTEGER) ? sqlite3_column_int64(statement_, column_) : 0;
  ++column_;
  crc_.Int(value);
  return value;
}

std::string RowReader::Text() {
  std::string value;
  if (Is(SQLITE_TEXT)) {
    const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column_));
    const int size = sqlite3_column_bytes(statement_, column_);
    if (data != nullptr) value.assign(data, size);
  }
  ++column_;
  crc_.Text(value);
  return value;
}

std::string RowReader::Blob() {
  std::string value;
  if (Is(SQLITE_BLOB)) {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column_));
    const int size = sqlite3_column_bytes(statement_, column_);
    if (data != nullptr) value.assign(data, size);
  }
  ++column_;
  crc_.Blob(value);
  return value;
}

bool RowReader::IsNull() { return sqlite3_column_type(statement_, column_) == SQLITE_NULL; }

void RowReader::Null() {
  (void)Is(SQLITE_NULL);
  ++column_;
  crc_.Null();
}

absl::Status RowReader::Finish(absl::string_view what) {
  const uint32_t computed = crc_.value();
  const int64_t stored = Is(SQLITE_INTEGER) ? sqlite3_column_int64(statement_, column_) : -1;
  if (mistyped_) return absl::DataLossError(absl::StrCat(what, " has a column of a wrong type"));
  if (stored != computed) return absl::DataLossError(absl::StrCat(what, " fails its checksum"));
  return absl::OkStatus();
}

absl::string_view BytesOf(absl::Span<const double> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}
absl::string_view BytesOf(absl::Span<const int64_t> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int64_t)};
}
std::vector<double> DoublesOf(absl::string_view bytes) { return NumbersOf<double>(bytes); }
std::vector<int64_t> IntegersOf(absl::string_view bytes) { return NumbersOf<int64_t>(bytes); }

}  // namespace fidelio
