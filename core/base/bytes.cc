#include "core/base/bytes.h"

#include <bit>
#include <cstring>

#include "absl/strings/str_format.h"

namespace fidelio {
namespace {

constexpr char kMagic[8] = {'F', 'I', 'D', 'E', 'L', 'I', 'O', '\0'};
constexpr size_t kHeader = 24, kTrailer = 4;

void Append(std::string& out, uint64_t v, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>((v >> (8 * i)) & 0xff));
}

uint64_t Take(absl::string_view bytes, size_t at, int count) {
  uint64_t v = 0;
  for (int i = 0; i < count; ++i) v |= uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return v;
}

}  // namespace

void ByteWriter::Little(uint64_t v, int bytes) { Append(payload_, v, bytes); }

void ByteWriter::F64(double v) { Little(std::bit_cast<uint64_t>(v), 8); }

void ByteWriter::String(absl::string_view v) {
  U64(v.size());
  payload_.append(v.data(), v.size());
}

void ByteWriter::Write(const Vector& v) {
  U64(static_cast<uint64_t>(v.size()));
  for (const double x : v) F64(x);
}

void ByteWriter::Write(const Matrix& m) {
  U64(static_cast<uint64_t>(m.rows()));
  U64(static_cast<uint64_t>(m.cols()));
  for (const double x : m.reshaped()) F64(x);
}

void ByteWriter::Write(const std::vector<Vector>& vs) {
  U64(vs.size());
  for (const Vector& v : vs) Write(v);
}

std::string ByteWriter::Seal(uint32_t kind, uint32_t version) const {
  std::string out(kMagic, sizeof(kMagic));
  Append(out, kind, 4);
  Append(out, version, 4);
  Append(out, payload_.size(), 8);
  out += payload_;
  Append(out, Crc32c(out), 4);
  return out;
}

absl::StatusOr<ByteReader::Opened> ByteReader::Open(absl::string_view bytes, uint32_t kind, uint32_t newest_version,
                                                    absl::string_view want) {
  if (bytes.size() < kHeader + kTrailer || std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) != 0) {
    return absl::DataLossError(
        absl::StrFormat("not a Fidelio checkpoint: %d bytes without the header of one (want %s)", bytes.size(), want));
  }
  const uint64_t length = Take(bytes, 16, 8);
  if (length != bytes.size() - kHeader - kTrailer) {
    return absl::DataLossError(
        absl::StrFormat("%s: header says %d bytes of payload, file has %d: truncated or overwritten", want, length,
                        bytes.size() - kHeader - kTrailer));
  }
  const auto stored = static_cast<uint32_t>(Take(bytes, kHeader + length, 4));
  const uint32_t computed = Crc32c(bytes.substr(0, kHeader + length));
  if (stored != computed) {
    return absl::DataLossError(
        absl::StrFormat("%s: checksum is %08x, want %08x: the bytes were damaged", want, computed, stored));
  }
  const auto found = static_cast<uint32_t>(Take(bytes, 8, 4)), version = static_cast<uint32_t>(Take(bytes, 12, 4));
  if (found != kind) {
    return absl::InvalidArgumentError(
        absl::StrFormat("checkpoint is of kind %d, want kind %d (%s)", found, kind, want));
  }
  if (version == 0 || version > newest_version) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: format version %d, this program reads 1 to %d: use a newer program", want, version, newest_version));
  }
  return Opened{ByteReader(bytes.substr(kHeader, length)), version};
}

uint32_t ByteReader::KindOf(absl::string_view bytes) {
  if (bytes.size() < kHeader || std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) != 0) return 0;
  return static_cast<uint32_t>(Take(bytes, 8, 4));
}

uint64_t ByteReader::Little(int bytes) {
  if (failed_ || rest_.size() < static_cast<size_t>(bytes)) {
    failed_ = true;
    return 0;
  }
  const uint64_t v = Take(rest_, 0, bytes);
  rest_.remove_prefix(static_cast<size_t>(bytes));
  return v;
}

double ByteReader::F64() { return std::bit_cast<double>(Little(8)); }

std::string ByteReader::ReadString() {
  const uint64_t n = Count(1);
  std::string v(rest_.substr(0, n));
  rest_.remove_prefix(n);
  return v;
}

uint64_t ByteReader::Count(uint64_t unit) {
  const uint64_t n = U64();
  if (n > rest_.size() / unit) failed_ = true;
  return failed_ ? 0 : n;
}

Vector ByteReader::ReadVector() {
  Vector v(static_cast<Eigen::Index>(Count(8)));
  for (double& x : v) x = F64();
  return v;
}

Matrix ByteReader::ReadMatrix() {
  const uint64_t rows = U64(), cols = U64();
  if (rows != 0 && cols > rest_.size() / 8 / rows) failed_ = true;
  // An empty matrix keeps its shape, within reason.
  if (rows > UINT32_MAX || cols > UINT32_MAX) failed_ = true;
  if (failed_) return Matrix(0, 0);
  Matrix m(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols));
  for (double& x : m.reshaped()) x = F64();
  return m;
}

std::vector<Vector> ByteReader::ReadVectors() {
  std::vector<Vector> vs(Count(8));
  for (Vector& v : vs) v = ReadVector();
  return vs;
}

absl::Status ByteReader::Finish() const {
  if (failed_) return absl::DataLossError("the payload is incomplete");
  if (!rest_.empty()) return absl::DataLossError(absl::StrFormat("%d bytes left after the last field", rest_.size()));
  return absl::OkStatus();
}

}  // namespace fidelio
