#include "tests/bench/map_data.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/random.h"

namespace fidelio::bench {
namespace {

using Eigen::Index;

constexpr int kColumns = 4;
constexpr uint32_t kLowStream = 1, kHighStream = 2, kFieldStream = 3;

absl::StatusOr<std::string> ReadAll(const std::string& path) {
  const std::unique_ptr<gzFile_s, decltype(&gzclose)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (file == nullptr) return absl::NotFoundError(absl::StrCat("can't open ", path));
  std::string text;
  std::vector<char> buffer(1 << 20);
  int count;
  while ((count = gzread(file.get(), buffer.data(), static_cast<unsigned>(buffer.size()))) > 0) {
    text.append(buffer.data(), static_cast<size_t>(count));
  }
  if (count < 0) return absl::DataLossError(absl::StrCat(path, ": damaged"));
  return text;
}

// The first `count` of a random order of 0 … n−1.
std::vector<int> Draw(int n, int count, uint64_t seed, uint32_t stream) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  Random random(seed, stream);
  for (int i = 0; i < count; ++i) {
    std::swap(order[i], order[i + random.NextBits() % static_cast<uint64_t>(n - i)]);
  }
  order.resize(count);
  return order;
}

}  // namespace

absl::StatusOr<MapData> ReadMap(const std::string& path) {
  absl::StatusOr<std::string> text = ReadAll(path);
  if (!text.ok()) return text.status();
  std::vector<double> values;
  const char* at = text->c_str();
  const auto next_line = [](const char* from) {
    while (*from != 0 && *from != '\n') ++from;
    return *from == 0 ? from : from + 1;
  };
  int line = 1;
  for (at = next_line(at); *at != 0; at = next_line(at)) {
    ++line;
    if (*at == '\n' || *at == '\r') continue;
    for (int c = 0; c < kColumns; ++c) {
      char* end = nullptr;
      const double value = std::strtod(at, &end);
      if (end == at || !std::isfinite(value)) {
        return absl::InvalidArgumentError(
            absl::StrFormat("%s:%d: column %d is not a number, want four of them", path, line, c + 1));
      }
      values.push_back(value);
      at = *end == ',' ? end + 1 : end;
    }
  }
  const auto n = static_cast<Index>(values.size() / kColumns);
  const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, kColumns, Eigen::RowMajor>> table(values.data(), n,
                                                                                                 kColumns);
  return MapData{.x = table.leftCols(2), .low = table.col(2), .high = table.col(3)};
}

absl::StatusOr<MapSplit> SplitMap(const MapData& map, int train_low, int train_high, int test, uint64_t seed) {
  const int n = static_cast<int>(map.low.size());
  if (train_high + test > n) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d rows, but --train-high and --test want %d", n, train_high + test));
  }
  const std::vector<int> low = Draw(n, std::min(n, train_low), seed, kLowStream);
  const std::vector<int> high = Draw(n, train_high + test, seed, kHighStream);
  const std::vector<int> learnt(high.begin(), high.begin() + train_high), tested(high.begin() + train_high, high.end());
  MapSplit split;
  split.train.levels = {{map.x(low, Eigen::all), map.low(low), {}}, {map.x(learnt, Eigen::all), map.high(learnt), {}}};
  split.test = {map.x(tested, Eigen::all), map.high(tested), {}};
  return split;
}

MapData MakeMap(int rows, double smoothness, uint64_t seed) {
  constexpr int kWaves = 300;
  Random random(seed, kFieldStream);
  // Frequencies of a Matérn field are those of a Student distribution with 2·smoothness degrees of freedom.
  const auto field = [&](double lengthscale, const Matrix& x) {
    Vector sum = Vector::Zero(x.rows());
    for (int k = 0; k < kWaves; ++k) {
      double chi2 = 0;  // with 2·smoothness degrees, a whole number
      for (int i = 0; i < static_cast<int>(2 * smoothness); ++i) {
        const double z = random.Normal();
        chi2 += z * z;
      }
      const double scale = std::sqrt(2 * smoothness / chi2) / lengthscale;
      const double a = scale * random.Normal(), b = scale * random.Normal();
      const double phase = 2 * std::numbers::pi * random.Uniform();
      sum.array() += (a * x.col(0).array() + b * x.col(1).array() + phase).cos();
    }
    return Vector(sum * std::sqrt(2.0 / kWaves));
  };
  MapData map;
  map.x.resize(rows, 2);
  for (double& v : map.x.reshaped()) v = 60 * random.Uniform() - 20;
  const Vector low = field(3, map.x), difference = field(6, map.x);
  const auto squash = [](const Vector& z) { return Vector((1 + (-z.array()).exp()).inverse()); };
  map.low = squash(low);
  map.high = squash((0.8 * low.array() + 0.25 * low.array().square() - 0.5 + 0.4 * difference.array()).matrix());
  return map;
}

}  // namespace fidelio::bench
