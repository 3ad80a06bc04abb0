// DataTable: rows of a file with named columns, whose errors say where in the file they are.
//
// TableReader: a file of such rows, read in pieces, so that memory stays bounded however long the file is. CSV and NumPy's
// .npy are told apart by their first bytes.
//
// A table is immutable after construction and safe to share between threads; a reader is not thread-safe.
#ifndef FIDELIO_CLIENT_CLI_DATA_TABLE_H_
#define FIDELIO_CLIENT_CLI_DATA_TABLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace fidelio::cli {

class DataTable {
 public:
  virtual ~DataTable() = default;

  const std::string& name() const { return *name_; }  // of the file, for errors
  const std::vector<std::string>& columns() const { return *columns_; }
  virtual int rows() const = 0;

  // Index of a column, or −1.
  int Column(absl::string_view column) const;

  // A finite number. Indices from 0.
  virtual absl::StatusOr<double> Number(int row, int column) const = 0;
  // What the field says.
  virtual std::string Text(int row, int column) const = 0;
  // The row as users of such files count: lines of a text from 1, rows of an array from 0.
  virtual int64_t RowNumber(int row) const = 0;
  // The field as a field of CSV: as it stands there, when the file is one.
  virtual void AppendCsv(int row, int column, std::string* out) const = 0;

  // Errors about the file, and about one of its fields. INVALID_ARGUMENT.
  absl::Status Error(absl::string_view what) const;
  absl::Status Error(int row, int column, absl::string_view what) const;

 protected:
  // "row 17, column x3", as users of such files count.
  virtual std::string Place(int row, int column) const = 0;

  std::shared_ptr<const std::string> name_;
  std::shared_ptr<const std::vector<std::string>> columns_;
};

class TableReader {
 public:
  virtual ~TableReader() = default;

  // The next rows, at most `most` ≥ 1; null at the end. At least one row comes before the end: a file without any is an
  // error.
  virtual absl::StatusOr<std::unique_ptr<DataTable>> Next(int most) = 0;
};

// Names of the columns of a file that has so many without names (.npy). INVALID_ARGUMENT begins without the file's name.
using NameColumns = std::function<absl::StatusOr<std::vector<std::string>>(int count)>;

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_DATA_TABLE_H_
