// MapData: a quantity on a map at two times (or of two fidelities), as rows longitude, latitude, low, high of a CSV file.
#ifndef FIDELIO_TESTS_BENCH_MAP_DATA_H_
#define FIDELIO_TESTS_BENCH_MAP_DATA_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/data/dataset.h"

namespace fidelio::bench {

struct MapData {
  Matrix x;          // n×2
  Vector low, high;  // n
};

// Reads the first four columns of a file, which may be compressed (.gz). The first line is a header and is not looked at.
absl::StatusOr<MapData> ReadMap(const std::string& path);

// Rows for training and testing, drawn by a seed: the low ones independently of the high ones, and high ones once.
struct MapSplit {
  Dataset train;   // two levels
  LevelData test;  // of the higher
};

// At most all rows for training on low; INVALID_ARGUMENT when there are not rows enough of high.
absl::StatusOr<MapSplit> SplitMap(const MapData& map, int train_low, int train_high, int test, uint64_t seed);

// A map of `rows` points of a smooth field and a rough one of `smoothness` (Matérn-like, by random Fourier features), whose
// link is not linear; values between 0 and 1.
MapData MakeMap(int rows, double smoothness, uint64_t seed);

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_MAP_DATA_H_
