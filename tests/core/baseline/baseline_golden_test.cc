// Checkpoints of every format version that there has been load, and predict what they did (tests/golden).
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "core/baseline/baseline_posterior.h"
#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Row {
  int level;
  double x1, x2, mean, variance;
};

std::vector<Row> ReadRows(const std::string& path) {
  std::istringstream in(ReadFile(path));
  std::string line;
  std::getline(in, line);  // the names of the columns
  std::vector<Row> rows;
  char comma;
  for (Row row; in >> row.level >> comma >> row.x1 >> comma >> row.x2 >> comma >> row.mean >> comma >> row.variance;) {
    rows.push_back(row);
  }
  return rows;
}

class BaselineGoldenTest : public ::testing::TestWithParam<BaselineMethod> {};

// Version 1 had one point of hyperparameters, and other ones of NARGP's link.
TEST_P(BaselineGoldenTest, ACheckpointOfVersion1LoadsAndPredictsTheSame) {
  const std::string stem = std::string(FIDELIO_GOLDEN_DIRECTORY) + "/baseline_v1/" + NameOf(GetParam());
  const auto model = LoadBaseline(GetParam(), ReadFile(stem + ".checkpoint"));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->report().draws, 1);
  const std::vector<Row> rows = ReadRows(stem + ".csv");
  EXPECT_EQ(rows.size(), 15U);
  for (const Row& row : rows) {
    const Prediction p = *(*model)->Predict(Matrix{{row.x1, row.x2}}, {.level = row.level});
    // Between machines and instruction sets only rounding differs, which small noise makes larger.
    EXPECT_NEAR(p.mean[0], row.mean, 1e-6 * std::sqrt(row.variance) + 1e-9) << row.level;
    EXPECT_NEAR(p.variance[0], row.variance, 1e-5 * row.variance) << row.level;
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, BaselineGoldenTest, ::testing::ValuesIn(kAllBaselineMethods),
                         [](const auto& test) { return std::string(NameOf(test.param)); });

}  // namespace
}  // namespace fidelio
