// CsvTable: a table in CSV, whose errors say where in the file they are.
//
// The first line is the header. Fields may stand in double quotes; blanks around them, a byte order mark, empty lines
// and either kind of line end do not matter. A row is counted as a line of the file, as editors and spreadsheets count:
// the header is row 1. Errors are INVALID_ARGUMENT: `observations.csv: row 17, column x3: "abc" is not a number`.
//
// Immutable after construction; safe to share between threads.
#ifndef FIDELIO_CLIENT_CLI_CSV_H_
#define FIDELIO_CLIENT_CLI_CSV_H_

#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace fidelio::cli {

class CsvTable {
 public:
  // `name` is that of the file, for errors. There is a header, with names that differ, and at least one row.
  static absl::StatusOr<CsvTable> Parse(std::string name, std::string text);

  const std::string& name() const { return name_; }
  const std::vector<std::string>& columns() const { return columns_; }
  int rows() const { return static_cast<int>(lines_.size()); }

  // Index of a column, or −1.
  int Column(absl::string_view column) const;

  // The field as it stands in the file, and what it says (without quotes). Indices from 0.
  absl::string_view Raw(int row, int column) const;
  std::string Text(int row, int column) const;

  // A finite number.
  absl::StatusOr<double> Number(int row, int column) const;

  // Errors about the file, and about one of its fields.
  absl::Status Error(absl::string_view what) const;
  absl::Status Error(int row, int column, absl::string_view what) const;

 private:
  std::string name_;
  std::shared_ptr<const std::string> text_;  // what cells_ point into
  std::vector<std::string> columns_;
  std::vector<absl::string_view> cells_;  // rows × columns, row-major
  std::vector<int> lines_;                // of each row, from 1
};

// The whole of a file, or of `standard_input` when path is "-". INVALID_ARGUMENT says why not.
absl::StatusOr<std::string> ReadInput(const std::string& path, std::istream& standard_input);

// How a path is called in messages.
std::string DisplayName(const std::string& path);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_CSV_H_
