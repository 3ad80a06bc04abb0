#include "client/cli/npy.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <regex>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/cli/text.h"

namespace fidelio::cli {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are");

constexpr size_t kMaxHeader = 1 << 16;
constexpr int64_t kMaxWhole = int64_t{1} << 28;  // numbers of an array in Fortran order: 2 GiB

// Rows of an array.
class NpyTable final : public DataTable {
 public:
  NpyTable(std::shared_ptr<const std::string> name, std::shared_ptr<const std::vector<std::string>> columns,
           int64_t first, Eigen::MatrixXd numbers)
      : first_(first), numbers_(std::move(numbers)) {
    name_ = std::move(name);
    columns_ = std::move(columns);
  }

  int rows() const override { return static_cast<int>(numbers_.rows()); }
  absl::StatusOr<double> Number(int row, int column) const override {
    const double number = numbers_(row, column);
    if (!std::isfinite(number)) return Error(row, column, absl::StrCat(number, " is not finite"));
    return number;
  }
  std::string Text(int row, int column) const override { return ExactNumber(numbers_(row, column)); }
  int64_t RowNumber(int row) const override { return first_ + row; }
  void AppendCsv(int row, int column, std::string* out) const override { out->append(Text(row, column)); }

 private:
  std::string Place(int row, int column) const override {
    return absl::StrCat("[", first_ + row, ", ", column, "] (", columns()[static_cast<size_t>(column)], ")");
  }

  const int64_t first_;  // row of the array
  const Eigen::MatrixXd numbers_;
};

template <typename T>
double Load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return static_cast<double>(value);
}

// Reads a number of so many bytes, in this machine's order.
using Loader = double (*)(const char*);
Loader LoaderFor(char kind, int bytes) {
  switch (kind) {
    case 'f':
      return bytes == 8 ? Load<double> : bytes == 4 ? Load<float> : nullptr;
    case 'i':
      return bytes == 8 ? Load<int64_t> : bytes == 4 ? Load<int32_t> : bytes == 2 ? Load<int16_t> : Load<int8_t>;
    case 'u':
      return bytes == 8 ? Load<uint64_t> : bytes == 4 ? Load<uint32_t> : bytes == 2 ? Load<uint16_t> : Load<uint8_t>;
    default:
      return nullptr;
  }
}

}  // namespace

absl::Status NpyReader::Error(absl::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat(*name_, ": ", what));
}

absl::Status NpyReader::ParseDescription(absl::string_view text) {
  const std::string description(text);
  std::smatch type, order, shape;
  static const std::regex* const kType = new std::regex(R"('descr'\s*:\s*'([<>|=])([fiu])([1248])')");
  static const std::regex* const kOrder = new std::regex(R"('fortran_order'\s*:\s*(True|False))");
  static const std::regex* const kShape =
      new std::regex(R"('shape'\s*:\s*\(\s*(\d{1,15})\s*,?\s*(\d{1,15})?\s*,?\s*\))");
  if (!std::regex_search(description, type, *kType) || LoaderFor(type[2].str()[0], std::stoi(type[3])) == nullptr) {
    return Error("not an array of float64, float32 or integers, which is what can be read");
  }
  if (!std::regex_search(description, order, *kOrder)) return Error("a damaged .npy: its header has no fortran_order");
  if (!std::regex_search(description, shape, *kShape)) {
    return Error("not an array of one or two dimensions, one row per point");
  }
  big_endian_ = type[1] == ">";
  kind_ = type[2].str()[0];
  bytes_ = std::stoi(type[3]);
  fortran_ = order[1] == "True";
  rows_ = std::stoll(shape[1]);
  cols_ = shape[2].matched ? std::stoll(shape[2]) : 1;
  if (rows_ == 0 || cols_ == 0) return Error("an array without elements");
  if (cols_ > std::numeric_limits<int>::max()) return Error(absl::StrCat(cols_, " columns"));
  return absl::OkStatus();
}

absl::Status NpyReader::ReadHeader() {
  char start[12] = {};
  in_.read(start, 10);
  const bool wide = start[6] >= 2;  // versions 2 and 3 have four bytes of length
  if (wide) in_.read(start + 10, 2);
  size_t length = static_cast<unsigned char>(start[8]) | static_cast<size_t>(static_cast<unsigned char>(start[9])) << 8;
  if (wide) {
    length |= static_cast<size_t>(static_cast<unsigned char>(start[10])) << 16 |
              static_cast<size_t>(static_cast<unsigned char>(start[11])) << 24;
  }
  if (!in_ || length > kMaxHeader || absl::string_view(start, kNpyMagic.size()) != kNpyMagic)
    return Error("a damaged .npy file: its header is incomplete");
  std::string description(length, '\0');
  in_.read(description.data(), static_cast<std::streamsize>(length));
  if (!in_) return Error("a damaged .npy file: its header is incomplete");
  if (absl::Status status = ParseDescription(description); !status.ok()) return status;
  auto columns = name_columns_(static_cast<int>(cols_));
  if (!columns.ok()) return Error(columns.status().message());
  if (fortran_) {
    if (cols_ > kMaxWhole / rows_)
      return Error("too large in Fortran order; save numpy.ascontiguousarray(...) instead");
    whole_.resize(rows_, cols_);
    if (absl::Status status = ReadNumbers(rows_ * cols_, whole_.data()); !status.ok()) return status;
  }
  columns_ = std::make_shared<const std::vector<std::string>>(*std::move(columns));
  return absl::OkStatus();
}

absl::Status NpyReader::ReadNumbers(int64_t count, double* numbers) {
  constexpr int64_t kAtOnce = 1 << 13;
  const Loader load = LoaderFor(kind_, bytes_);
  std::vector<char> buffer(static_cast<size_t>(kAtOnce * bytes_));
  for (int64_t done = 0; done < count;) {
    const int64_t n = std::min(kAtOnce, count - done);
    in_.read(buffer.data(), n * bytes_);
    if (!in_) return Error(absl::StrCat("ends before its ", rows_, " × ", cols_, " numbers do"));
    for (int64_t i = 0; i < n; ++i) {
      char* bytes = buffer.data() + i * bytes_;
      if (big_endian_) std::reverse(bytes, bytes + bytes_);
      numbers[done + i] = load(bytes);
    }
    done += n;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<DataTable>> NpyReader::Next(int most) {
  if (columns_ == nullptr) {
    if (absl::Status status = ReadHeader(); !status.ok()) return status;
  }
  const int64_t n = std::min<int64_t>(most, rows_ - row_);
  if (n == 0) return nullptr;
  Eigen::MatrixXd numbers;
  if (fortran_) {
    numbers = whole_.middleRows(row_, n);
  } else {
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows(n, cols_);
    if (absl::Status status = ReadNumbers(n * cols_, rows.data()); !status.ok()) return status;
    numbers = rows;
  }
  row_ += n;
  return std::make_unique<NpyTable>(name_, columns_, row_ - n, std::move(numbers));
}

}  // namespace fidelio::cli
