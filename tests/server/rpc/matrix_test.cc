#include "server/rpc/matrix.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "core/base/random.h"
#include "gtest/gtest.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

constexpr int64_t kMax = 1 << 20;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The naive encoding that the blocks of the fast one must equal.
v1::Matrix Wire(const Matrix& m, v1::MatrixEncoding encoding) {
  v1::Matrix wire;
  wire.set_rows(static_cast<uint32_t>(m.rows()));
  wire.set_cols(static_cast<uint32_t>(m.cols()));
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    for (Eigen::Index j = 0; j < m.cols(); ++j) {
      const double v = m(i, j);
      if (encoding == v1::MATRIX_ENCODING_VALUES) {
        wire.mutable_values()->add_values(v);
      } else {
        wire.mutable_f64_le()->append(reinterpret_cast<const char*>(&v), sizeof v);
      }
    }
  }
  return wire;
}

Matrix Counting(Eigen::Index rows, Eigen::Index cols) {
  return Eigen::VectorXd::LinSpaced(rows * cols, -1, static_cast<double>(rows * cols)).reshaped(rows, cols);
}

struct Shape {
  Eigen::Index rows, cols;
};

class MatrixShapeTest : public ::testing::TestWithParam<std::tuple<Shape, v1::MatrixEncoding>> {};

std::string ShapeName(const ::testing::TestParamInfo<MatrixShapeTest::ParamType>& parameters) {
  const auto& [shape, encoding] = parameters.param;
  return std::to_string(shape.rows) + "x" + std::to_string(shape.cols) +
         (encoding == v1::MATRIX_ENCODING_VALUES ? "Values" : "Bytes");
}

TEST_P(MatrixShapeTest, TravelsInRowMajorOrderAndComesBackTheSame) {
  const auto& [shape, encoding] = GetParam();
  const Matrix m = Counting(shape.rows, shape.cols);
  const v1::Matrix naive = Wire(m, encoding);
  v1::Matrix wire;
  EncodeMatrix(m, encoding, &wire);
  EXPECT_EQ(wire.SerializeAsString(), naive.SerializeAsString());
  EXPECT_EQ(EncodingOf(wire), encoding);

  const absl::StatusOr<Matrix> back = DecodeMatrix(naive, "inputs", kMax);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(*back, m);
}

INSTANTIATE_TEST_SUITE_P(Shapes, MatrixShapeTest,
                         ::testing::Combine(::testing::Values(Shape{1, 1}, Shape{1, 7}, Shape{7, 1}, Shape{3, 2},
                                                              Shape{1500, 3}, Shape{3, 5000}, Shape{1024, 2},
                                                              Shape{1025, 2}),
                                            ::testing::Values(v1::MATRIX_ENCODING_F64_LE, v1::MATRIX_ENCODING_VALUES)),
                         ShapeName);

TEST(MatrixTest, UnspecifiedEncodesAsBytesAndReplacesWhatWasThere) {
  v1::Matrix wire = Wire(Counting(9, 9), v1::MATRIX_ENCODING_VALUES);
  EncodeMatrix(Counting(2, 3), v1::MATRIX_ENCODING_UNSPECIFIED, &wire);
  EXPECT_EQ(wire.SerializeAsString(), Wire(Counting(2, 3), v1::MATRIX_ENCODING_F64_LE).SerializeAsString());
}

TEST(MatrixTest, EncodesBlocksOfLargerMatricesAndEmptyOnes) {
  const Matrix m = Counting(5, 4);
  v1::Matrix wire;
  EncodeMatrix(m.block(1, 1, 3, 2), v1::MATRIX_ENCODING_F64_LE, &wire);
  EXPECT_EQ(*DecodeMatrix(wire, "x", kMax), m.block(1, 1, 3, 2));
  EncodeMatrix(Matrix(0, 4), v1::MATRIX_ENCODING_F64_LE, &wire);
  EXPECT_EQ(wire.rows(), 0u);
  EXPECT_EQ(wire.cols(), 4u);
  EXPECT_EQ(wire.f64_le(), "");
}

TEST(MatrixTest, KeepsEveryBitOfEveryFiniteNumber) {
  Matrix m(2, 3);
  m << -0.0, std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max(), 1 / 3.0,
      -std::numeric_limits<double>::min(), 1e-300;
  for (const auto encoding : {v1::MATRIX_ENCODING_F64_LE, v1::MATRIX_ENCODING_VALUES}) {
    v1::Matrix wire;
    EncodeMatrix(m, encoding, &wire);
    const Matrix back = *DecodeMatrix(wire, "x", kMax);
    EXPECT_EQ(std::memcmp(back.data(), m.data(), sizeof(double) * 6), 0);
  }
}

TEST(MatrixTest, RefusesNumbersThatAreNotFiniteByTheirPlace) {
  for (const auto encoding : {v1::MATRIX_ENCODING_F64_LE, v1::MATRIX_ENCODING_VALUES}) {
    Matrix m = Counting(2000, 3);
    m(1700, 2) = kNan;
    m(1801, 0) = kInfinity;
    EXPECT_TRUE(IsError(DecodeMatrix(Wire(m, encoding), "observations[1].inputs", kMax).status(),
                        absl::StatusCode::kInvalidArgument,
                        {"observations[1].inputs: element [1700, 2] is nan, but must be finite"}));
    m(1700, 2) = -kInfinity;
    EXPECT_TRUE(IsError(DecodeMatrix(Wire(m, encoding), "inputs", kMax).status(), absl::StatusCode::kInvalidArgument,
                        {"inputs: element [1700, 2] is -inf"}));
  }
}

TEST(MatrixTest, RefusesWhatItsHeaderDoesNotDescribe) {
  v1::Matrix wire;
  const auto expect = [&](const std::string& message) {
    EXPECT_TRUE(IsError(DecodeMatrix(wire, "inputs", kMax).status(), absl::StatusCode::kInvalidArgument, {message}));
  };
  expect("inputs: 0 × 0, but at least 1 row and 1 column are needed");
  wire.set_rows(3);
  expect("inputs: 3 × 0, but at least 1 row and 1 column are needed");
  wire.set_cols(2);
  expect("inputs: neither f64_le nor values, but 3 × 2 elements are claimed");
  wire.set_f64_le(std::string(40, '\0'));
  expect("inputs.f64_le: 40 bytes, but 3 × 2 doubles take 48");
  wire.set_f64_le(std::string(49, '\0'));
  expect("inputs.f64_le: 49 bytes, but 3 × 2 doubles take 48");
  wire.mutable_values()->add_values(1);
  expect("inputs.values: 1 numbers, but 3 × 2 are 6");
}

TEST(MatrixTest, ColumnsHaveOneColumn) {
  EXPECT_EQ(*DecodeColumn(Wire(Counting(4, 1), v1::MATRIX_ENCODING_F64_LE), "outputs", kMax), Counting(4, 1).col(0));
  EXPECT_TRUE(IsError(DecodeColumn(Wire(Counting(4, 2), v1::MATRIX_ENCODING_F64_LE), "outputs", kMax).status(),
                      absl::StatusCode::kInvalidArgument, {"outputs: 2 columns, but 1 is needed"}));
  EXPECT_TRUE(IsError(DecodeColumn(v1::Matrix(), "outputs", kMax).status(), absl::StatusCode::kInvalidArgument,
                      {"outputs: 0 × 0, but at least 1 row"}));
}

TEST(MatrixTest, RefusesClaimsOfAGibibyteBeforeItAllocates) {
  v1::Matrix wire;
  wire.set_rows(1 << 14);
  wire.set_cols(1 << 13);  // 2²⁷ doubles
  wire.set_f64_le("12345678");
  EXPECT_TRUE(IsError(DecodeMatrix(wire, "inputs", kMax).status(), absl::StatusCode::kInvalidArgument,
                      {"inputs: 16384 × 8192 elements, but at most 1048576 are allowed"}));
  // Also when the limit would let it pass: what is not there is not allocated.
  EXPECT_TRUE(IsError(DecodeMatrix(wire, "inputs", std::numeric_limits<int64_t>::max()).status(),
                      absl::StatusCode::kInvalidArgument, {"inputs.f64_le: 8 bytes, but"}));
}

// Headers whose products overflow 32 or 64 bits, with a few bytes of data behind them.
TEST(MatrixTest, NoHeaderIsTrusted) {
  const std::vector<uint64_t> edges = {0,          1,          2,          3,         7,          8,         255,
                                       256,        65535,      65536,      65537,     (1u << 29), 1u << 30,  1u << 31,
                                       4294967295, 4294967294, 2147483647, 536870912, 536870911,  1073741825};
  uint64_t accepted = 0;
  for (const uint64_t rows : edges) {
    for (const uint64_t cols : edges) {
      for (const int bytes : {-1, 0, 7, 8, 9, 16, 24, 48, 64, 512}) {
        for (const bool as_values : {false, true}) {
          v1::Matrix wire;
          wire.set_rows(static_cast<uint32_t>(rows));
          wire.set_cols(static_cast<uint32_t>(cols));
          if (bytes >= 0 && as_values) wire.mutable_values()->mutable_values()->Resize(bytes / 8, 1.0);
          if (bytes >= 0 && !as_values) wire.set_f64_le(std::string(bytes, '\0'));
          for (const int64_t limit : {int64_t{0}, int64_t{64}, std::numeric_limits<int64_t>::max()}) {
            const absl::StatusOr<Matrix> m = DecodeMatrix(wire, "inputs", limit);
            if (!m.ok()) {
              EXPECT_EQ(m.status().code(), absl::StatusCode::kInvalidArgument);
              EXPECT_TRUE(absl::StartsWith(m.status().message(), "inputs")) << m.status();
              continue;
            }
            ++accepted;
            EXPECT_EQ(static_cast<uint64_t>(m->rows()), rows);
            EXPECT_EQ(static_cast<uint64_t>(m->cols()), cols);
            EXPECT_EQ(m->size(), bytes / 8);
            EXPECT_LE(m->size(), limit);
          }
        }
      }
    }
  }
  EXPECT_GT(accepted, 0u);
}

TEST(MatrixTest, AnyBytesDecodeToFiniteMatricesOrAnError) {
  Random random(1, 0);
  const auto below = [&](uint64_t n) { return static_cast<uint32_t>(random.NextBits() % n); };
  for (int round = 0; round < 20000; ++round) {
    v1::Matrix wire;
    std::string bytes(below(40), '\0');
    for (char& c : bytes) c = static_cast<char>(below(256));
    if (!wire.ParseFromString(bytes)) {
      wire.set_rows(1 + below(3));
      wire.set_cols(1 + below(3));
      wire.set_f64_le(bytes);
    }
    const absl::StatusOr<Matrix> m = DecodeMatrix(wire, "x", 100);
    if (m.ok()) {
      EXPECT_TRUE(m->allFinite());
    } else {
      EXPECT_EQ(m.status().code(), absl::StatusCode::kInvalidArgument);
    }
  }
}

}  // namespace
}  // namespace fidelio
