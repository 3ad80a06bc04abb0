// CsvTable and CsvReader: tables in CSV.
//
// The first line is the header. Fields may stand in double quotes; blanks around them, a byte order mark, empty lines
// and either kind of line end do not matter. A row is counted as a line of the file, as editors and spreadsheets count:
// the header is row 1. Errors are INVALID_ARGUMENT: `observations.csv: row 17, column x3: "abc" is not a number`.
#ifndef FIDELIO_CLIENT_CLI_CSV_H_
#define FIDELIO_CLIENT_CLI_CSV_H_

#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/data_table.h"

namespace fidelio::cli {

class CsvTable final : public DataTable {
 public:
  // `name` is that of the file, for errors. There is a header, with names that differ, and at least one row.
  static absl::StatusOr<CsvTable> Parse(std::string name, std::string text);

  int rows() const override { return static_cast<int>(lines_.size()); }
  absl::StatusOr<double> Number(int row, int column) const override;
  std::string Text(int row, int column) const override;
  int64_t RowNumber(int row) const override { return lines_[static_cast<size_t>(row)]; }
  void AppendCsv(int row, int column, std::string* out) const override;

  // The field as it stands in the file.
  absl::string_view Raw(int row, int column) const;

 private:
  friend class CsvReader;
  std::string Place(int row, int column) const override;

  std::shared_ptr<const std::string> text_;  // what cells_ point into
  std::vector<absl::string_view> cells_;     // rows × columns, row-major
  std::vector<int64_t> lines_;               // of each row, from 1
};

class CsvReader final : public TableReader {
 public:
  // `in` outlives the reader.
  CsvReader(std::string name, std::istream& in)
      : name_(std::make_shared<const std::string>(std::move(name))), in_(in) {}

  absl::StatusOr<std::unique_ptr<DataTable>> Next(int most) override;

  // The same as the type that it is.
  absl::StatusOr<std::unique_ptr<CsvTable>> NextCsv(int most);

 private:
  absl::Status ReadHeader();
  absl::Status Error(absl::string_view what) const;

  const std::shared_ptr<const std::string> name_;
  std::istream& in_;
  std::shared_ptr<const std::vector<std::string>> columns_;
  int64_t line_ = 0;  // that was read last, from 1
  bool any_ = false;  // a row was there
};

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_CSV_H_
