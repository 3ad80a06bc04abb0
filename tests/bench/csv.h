// Data sets as files: DIR/<problem>/<seed>/train.csv with the columns level,x1..xd,y, and test.csv with x1..xd,y
// (noise-free, highest level). Numbers are written with 17 digits, so that they are read back bit for bit.
#ifndef FIDELIO_TESTS_BENCH_CSV_H_
#define FIDELIO_TESTS_BENCH_CSV_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/data/dataset.h"

namespace fidelio::bench {

absl::StatusOr<Dataset> ReadTrain(const std::string& path);
absl::StatusOr<LevelData> ReadTest(const std::string& path);

absl::Status WriteTrain(const Dataset& data, const std::string& path);
absl::Status WriteTest(const LevelData& test, const std::string& path);

// Writes all of text to the file, replacing it. Makes its directory if it is not there.
absl::Status WriteFile(const std::string& path, const std::string& text);

// An error when WriteFile could not write it, for programs that work long before they do. A file that is there stays as
// it is; one that is not is not left behind, its directory is.
absl::Status CheckWritable(const std::string& path);

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_CSV_H_
