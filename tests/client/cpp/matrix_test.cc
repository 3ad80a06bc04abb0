#include "client/cpp/matrix.h"

#include <cstring>

#include "gtest/gtest.h"
#include "tests/support/status.h"

namespace fidelio::client {
namespace {

TEST(MatrixTest, TheWireIsRowMajor) {
  Eigen::MatrixXd m(2, 3);
  m << 1, 2, 3, 4, 5, 6;
  const v1::Matrix wire = ToWire(m);
  EXPECT_EQ(wire.rows(), 2u);
  EXPECT_EQ(wire.cols(), 3u);
  ASSERT_EQ(wire.f64_le().size(), 48u);
  double second;
  std::memcpy(&second, wire.f64_le().data() + 8, 8);
  EXPECT_EQ(second, 2);
  EXPECT_EQ(*FromWire(wire, "mean"), m);
}

TEST(MatrixTest, AVectorIsAColumn) {
  const v1::Matrix wire = ToWire(Eigen::VectorXd::LinSpaced(5, 0, 1));
  EXPECT_EQ(wire.rows(), 5u);
  EXPECT_EQ(wire.cols(), 1u);
}

TEST(MatrixTest, BlocksOfAMatrixAreTakenAsTheyAre) {
  const Eigen::MatrixXd m = Eigen::MatrixXd::Random(6, 4);
  EXPECT_EQ(*FromWire(ToWire(m.block(1, 1, 3, 2)), "m"), Eigen::MatrixXd(m.block(1, 1, 3, 2)));
}

TEST(MatrixTest, ListsOfValuesAreReadToo) {
  v1::Matrix wire;
  wire.set_rows(1);
  wire.set_cols(2);
  wire.mutable_values()->add_values(3);
  wire.mutable_values()->add_values(4);
  EXPECT_EQ(*FromWire(wire, "mean"), Eigen::RowVector2d(3, 4));
}

TEST(MatrixTest, TooFewOrTooManyNumbersAreAnErrorOfTheServer) {
  v1::Matrix wire = ToWire(Eigen::MatrixXd::Zero(2, 2));
  wire.set_rows(3);
  EXPECT_TRUE(IsError(FromWire(wire, "variance").status(), absl::StatusCode::kInternal,
                      {"variance with 4 numbers, but 3 × 2 are 6"}));
  wire.set_rows(2);
  wire.mutable_f64_le()->push_back('\0');
  EXPECT_TRUE(absl::IsInternal(FromWire(wire, "variance").status()));
  wire.set_rows(0xFFFFFFFF);
  wire.set_cols(0xFFFFFFFF);
  EXPECT_TRUE(absl::IsInternal(FromWire(wire, "variance").status()));
}

}  // namespace
}  // namespace fidelio::client
