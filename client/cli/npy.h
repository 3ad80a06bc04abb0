// NpyReader: tables in NumPy's .npy (format 1.0 to 3.0), as numpy.save writes them.
//
// Arrays of one or two dimensions, one row per point, of floats or integers of either byte order. Their columns have no
// names: `name_columns` gives them. Arrays in Fortran order are read as a whole, others in pieces. Errors count as NumPy
// does: `runs.npy: [17, 2] (x3): nan is not finite`.
#ifndef FIDELIO_CLIENT_CLI_NPY_H_
#define FIDELIO_CLIENT_CLI_NPY_H_

#include <Eigen/Core>
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

// How a file of this kind begins.
inline constexpr absl::string_view kNpyMagic = "\x93NUMPY";

class NpyReader final : public TableReader {
 public:
  // `in` stands at the beginning of the file and outlives the reader.
  NpyReader(std::string name, std::istream& in, NameColumns name_columns)
      : name_(std::make_shared<const std::string>(std::move(name))), in_(in), name_columns_(std::move(name_columns)) {}

  absl::StatusOr<std::unique_ptr<DataTable>> Next(int most) override;

 private:
  absl::Status ReadHeader();
  absl::Status ParseDescription(absl::string_view text);
  absl::Status ReadNumbers(int64_t count, double* numbers);
  absl::Status Error(absl::string_view what) const;

  const std::shared_ptr<const std::string> name_;
  std::istream& in_;
  const NameColumns name_columns_;
  std::shared_ptr<const std::vector<std::string>> columns_;  // null until the header was read
  char kind_ = 'f';                                          // f, i, u: float, signed, unsigned
  int bytes_ = 8;                                            // of a number
  bool big_endian_ = false;
  bool fortran_ = false;
  int64_t rows_ = 0, cols_ = 0;
  int64_t row_ = 0;        // that comes next
  Eigen::MatrixXd whole_;  // of an array in Fortran order
};

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_NPY_H_
