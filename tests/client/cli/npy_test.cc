#include "client/cli/npy.h"

#include <cstring>
#include <limits>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/status.h"

namespace fidelio::cli {
namespace {

constexpr auto kRefused = absl::StatusCode::kInvalidArgument;

// A file as numpy.save writes it.
template <typename T>
std::string Npy(const std::string& type, const std::string& shape, const std::vector<T>& numbers,
                const std::string& fortran = "False", char version = 1) {
  std::string header = absl::StrCat("{'descr': '", type, "', 'fortran_order': ", fortran, ", 'shape': ", shape, ", }");
  header.append(54 - header.size() % 16, ' ');
  header.push_back('\n');
  std::string file(kNpyMagic);
  file.push_back(version);
  file.push_back('\0');
  file.push_back(static_cast<char>(header.size() & 0xff));
  file.push_back(static_cast<char>(header.size() >> 8));
  if (version > 1) file.append(2, '\0');
  file += header;
  file.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T));
  return file;
}

NameColumns Columns(int expected) {
  return [expected](int count) -> absl::StatusOr<std::vector<std::string>> {
    if (count != expected) return absl::InvalidArgumentError(absl::StrCat(count, " columns"));
    std::vector<std::string> names;
    for (int j = 1; j <= count; ++j) names.push_back(absl::StrCat("x", j));
    return names;
  };
}

class Reading {
 public:
  Reading(const std::string& file, int columns) : in_(file), reader_("runs.npy", in_, Columns(columns)) {}
  absl::StatusOr<std::unique_ptr<DataTable>> Next(int most = 1000) { return reader_.Next(most); }

 private:
  std::istringstream in_;
  NpyReader reader_;
};

TEST(NpyTest, ReadsRowsInPieces) {
  Reading reading(Npy<double>("<f8", "(3, 2)", {1, 2, 3, 4, 5, 6}), 2);
  const auto first = reading.Next(2);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ((*first)->rows(), 2);
  EXPECT_EQ((*first)->columns(), std::vector<std::string>({"x1", "x2"}));
  EXPECT_EQ(*(*first)->Number(1, 0), 3);
  const auto second = reading.Next(2);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ((*second)->rows(), 1);
  EXPECT_EQ(*(*second)->Number(0, 1), 6);
  EXPECT_EQ(*reading.Next(2), nullptr);
}

TEST(NpyTest, ReadsTheTypesOfNumpyInBothOrders) {
  EXPECT_EQ(*(*Reading(Npy<float>("<f4", "(1, 2)", {1.5f, -2}), 2).Next())->Number(0, 0), 1.5);
  EXPECT_EQ(*(*Reading(Npy<int64_t>("<i8", "(1, 2)", {-7, 8}), 2).Next())->Number(0, 0), -7);
  EXPECT_EQ(*(*Reading(Npy<uint8_t>("|u1", "(1, 2)", {7, 200}), 2).Next())->Number(0, 1), 200);
  EXPECT_EQ(*(*Reading(Npy<int16_t>(">i2", "(1, 1)", {0x0201}), 1).Next())->Number(0, 0), 0x0102);
  EXPECT_EQ(*(*Reading(Npy<double>("<f8", "(2, 3)", {1, 2, 3, 4, 5, 6}, "True"), 3).Next())->Number(0, 1), 3);
  EXPECT_EQ((*Reading(Npy<double>("<f8", "(4,)", {1, 2, 3, 4}), 1).Next())->rows(), 4);
  EXPECT_EQ((*Reading(Npy<double>("<f8", "(2, 1)", {1, 2}, "False", 2), 1).Next())->rows(), 2);
}

TEST(NpyTest, NumbersThatAreNotFiniteAreNamedAsNumpyCounts) {
  Reading reading(Npy<double>("<f8", "(3, 2)", {1, 2, 3, 4, 5, std::numeric_limits<double>::quiet_NaN()}), 2);
  ASSERT_TRUE(reading.Next(2).ok());
  const auto table = reading.Next(2);
  EXPECT_TRUE(IsError((*table)->Number(0, 1).status(), kRefused, {"runs.npy: [2, 1] (x2): nan is not finite"}));
}

TEST(NpyTest, WhatCannotBeReadIsExplained) {
  const auto error = [](const std::string& file, int columns = 2) { return Reading(file, columns).Next().status(); };
  EXPECT_TRUE(
      IsError(error(Npy<double>("<f8", "(3, 2)", {1, 2, 3})), kRefused, {"runs.npy: ends before its 3 × 2 numbers"}));
  EXPECT_TRUE(IsError(error(Npy<double>("<c16", "(1, 2)", {1, 2})), kRefused, {"float64, float32 or integers"}));
  EXPECT_TRUE(IsError(error(Npy<double>("<f8", "(1, 2, 3)", {1, 2})), kRefused, {"one or two dimensions"}));
  EXPECT_TRUE(IsError(error(Npy<double>("<f8", "(0, 2)", {})), kRefused, {"without elements"}));
  EXPECT_TRUE(IsError(error(Npy<double>("<f8", "(1, 3)", {1, 2, 3})), kRefused, {"runs.npy: 3 columns"}));
  EXPECT_TRUE(IsError(error("\x93NUMPY"), kRefused, {"damaged"}));
  EXPECT_TRUE(IsError(error("\x93 any other bytes that are long enough"), kRefused, {"damaged"}));
}

}  // namespace
}  // namespace fidelio::cli
