#include "core/base/bytes.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

constexpr uint32_t kKind = 7, kVersion = 2;

// One field of every type.
std::string SealedExample() {
  ByteWriter writer;
  writer.U32(5);
  writer.Bool(true);
  writer.F64(-0.5);
  writer.Write(Vector{{1, 2}});
  writer.Write(Matrix{{1, 2, 3}, {4, 5, 6}});
  writer.Write(std::vector<Vector>{Vector{{1}}, Vector()});
  return writer.Seal(kKind, kVersion);
}

absl::StatusOr<ByteReader::Opened> Open(absl::string_view bytes) {
  return ByteReader::Open(bytes, kKind, kVersion, "example");
}

enum class Colour { kRed, kGreen };

struct Part {
  bool on = false;
  Vector values;
};

template <typename Bytes>
void Fields(Bytes& bytes, Part& part) {
  bytes(part.on, part.values);
}

struct Whole {
  int number = 0;
  Colour colour = Colour::kRed;
  int64_t below = 0;
  uint64_t above = 0;
  double real = 0;
  std::string name;
  Matrix matrix;
  std::optional<Part> present, absent;
  std::vector<Part> parts;
  std::vector<Vector> vectors;
};

template <typename Bytes>
void Fields(Bytes& bytes, Whole& whole) {
  bytes(whole.number, whole.colour, whole.below, whole.above, whole.real, whole.name, whole.matrix);
  bytes(whole.present, whole.absent, whole.parts, whole.vectors);
}

Whole ExampleOfFields() {
  return {.number = 5,
          .colour = Colour::kGreen,
          .below = -3,
          .above = 7,
          .real = -0.5,
          .name = "a",
          .matrix = Matrix{{1, 2}, {3, 4}},
          .present = Part{.on = true, .values = Vector{{9}}},
          .absent = std::nullopt,
          .parts = {Part{.on = false, .values = Vector()}, Part{.on = true, .values = Vector{{1, 2}}}},
          .vectors = {Vector{{3}}}};
}

// What Open makes of a payload that the writer wrote.
ByteReader ReaderOf(const std::string& sealed) { return Open(sealed)->reader; }

TEST(BytesTest, FieldsOfStructsHaveTheBytesOfTheirTypes) {
  ByteWriter by_fields, by_hand;
  by_fields(ExampleOfFields());
  by_hand.U32(5);
  by_hand.U32(1);
  by_hand.I64(-3);
  by_hand.U64(7);
  by_hand.F64(-0.5);
  by_hand.String("a");
  by_hand.Write(Matrix{{1, 2}, {3, 4}});
  by_hand.Bool(true);
  by_hand.Bool(true);
  by_hand.Write(Vector{{9}});
  by_hand.Bool(false);
  by_hand.U64(2);
  by_hand.Bool(false);
  by_hand.Write(Vector());
  by_hand.Bool(true);
  by_hand.Write(Vector{{1, 2}});
  by_hand.Write(std::vector<Vector>{Vector{{3}}});
  EXPECT_EQ(by_fields.Seal(kKind, kVersion), by_hand.Seal(kKind, kVersion));
}

TEST(BytesTest, FieldsOfStructsComeBackAsTheyWereWritten) {
  ByteWriter writer;
  writer(ExampleOfFields(), uint64_t{11});
  const std::string sealed = writer.Seal(kKind, kVersion);
  ByteReader reader = ReaderOf(sealed);
  const Whole read = reader.Read<Whole>();
  EXPECT_EQ(reader.U64(), 11u);
  EXPECT_TRUE(reader.Finish().ok());
  ByteWriter again;
  again(read, uint64_t{11});
  EXPECT_EQ(again.Seal(kKind, kVersion), sealed);
  EXPECT_FALSE(read.absent.has_value());
  EXPECT_EQ(read.parts.size(), 2u);
}

TEST(BytesTest, ImpossibleCountsOfStructsFail) {
  ByteWriter writer;
  writer.U64(uint64_t{1} << 60);
  const std::string sealed = writer.Seal(kKind, kVersion);
  ByteReader reader = ReaderOf(sealed);
  EXPECT_LE(reader.Read<std::vector<Part>>().size(), 1u);
  EXPECT_FALSE(reader.Finish().ok());
}

TEST(BytesTest, EveryFieldComesBackAsItWasWritten) {
  ByteWriter writer;
  writer.U32(0xdeadbeef);
  writer.U64(0x0123456789abcdef);
  writer.I64(-3);
  writer.I64(std::numeric_limits<int64_t>::min());
  writer.Bool(true);
  writer.Bool(false);
  writer.String(std::string("a\0b", 3));
  writer.String("");
  writer.Write(Vector{{1.5, -2.25, 1e300}});
  writer.Write(Vector());
  writer.Write(Matrix{{1, 2, 3}, {4, 5, 6}});
  writer.Write(Matrix(0, 3));
  writer.Write(Matrix(2, 0));
  writer.Write(std::vector<Vector>{Vector{{1, 2}}, Vector(), Vector{{3}}});
  writer.Write(std::vector<Vector>());
  const std::string sealed = writer.Seal(kKind, kVersion);
  const absl::StatusOr<ByteReader::Opened> opened = Open(sealed);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->version, kVersion);
  ByteReader reader = opened->reader;
  EXPECT_EQ(reader.U32(), 0xdeadbeef);
  EXPECT_EQ(reader.U64(), 0x0123456789abcdefu);
  EXPECT_EQ(reader.I64(), -3);
  EXPECT_EQ(reader.I64(), std::numeric_limits<int64_t>::min());
  EXPECT_TRUE(reader.Bool());
  EXPECT_FALSE(reader.Bool());
  EXPECT_EQ(reader.ReadString(), std::string("a\0b", 3));
  EXPECT_EQ(reader.ReadString(), "");
  EXPECT_EQ(reader.ReadVector(), (Vector{{1.5, -2.25, 1e300}}));
  EXPECT_EQ(reader.ReadVector().size(), 0);
  EXPECT_EQ(reader.ReadMatrix(), (Matrix{{1, 2, 3}, {4, 5, 6}}));
  const Matrix wide = reader.ReadMatrix(), tall = reader.ReadMatrix();
  EXPECT_EQ(wide.rows(), 0);
  EXPECT_EQ(wide.cols(), 3);
  EXPECT_EQ(tall.rows(), 2);
  EXPECT_EQ(tall.cols(), 0);
  EXPECT_EQ(reader.ReadVectors(), (std::vector<Vector>{Vector{{1, 2}}, Vector(), Vector{{3}}}));
  EXPECT_TRUE(reader.ReadVectors().empty());
  EXPECT_TRUE(reader.Finish().ok()) << reader.Finish();
}

TEST(BytesTest, DoublesKeepEveryBit) {
  const double values[] = {0.0,
                           -0.0,
                           1.0 / 3,
                           std::numeric_limits<double>::denorm_min(),
                           std::numeric_limits<double>::max(),
                           -std::numeric_limits<double>::infinity(),
                           std::bit_cast<double>(uint64_t{0x7ff8000000abcdef})};
  ByteWriter writer;
  for (const double v : values) writer.F64(v);
  const std::string sealed = writer.Seal(kKind, kVersion);
  ByteReader reader = ReaderOf(sealed);
  for (const double v : values) EXPECT_EQ(std::bit_cast<uint64_t>(reader.F64()), std::bit_cast<uint64_t>(v));
}

TEST(BytesTest, TheEnvelopeIsWhatTheHeaderSays) {
  ByteWriter writer;
  writer.U32(0x04030201);
  const std::string sealed = writer.Seal(0x0a0b0c0d, 1);
  const std::string head("FIDELIO\0\x0d\x0c\x0b\x0a\x01\0\0\0\x04\0\0\0\0\0\0\0\x01\x02\x03\x04", 28);
  ASSERT_EQ(sealed.size(), 32u);
  EXPECT_EQ(sealed.substr(0, 28), head);
  const uint32_t crc = Crc32c(head);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(static_cast<unsigned char>(sealed[28 + i]), (crc >> (8 * i)) & 0xff);
}

TEST(BytesTest, EveryFlippedBitIsAnError) {
  const std::string sealed = SealedExample();
  ASSERT_TRUE(Open(sealed).ok());
  for (size_t i = 0; i < sealed.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = sealed;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      EXPECT_EQ(Open(flipped).status().code(), absl::StatusCode::kDataLoss) << "byte " << i << ", bit " << bit;
    }
  }
}

TEST(BytesTest, EveryTruncationIsAnError) {
  const std::string sealed = SealedExample();
  for (size_t n = 0; n < sealed.size(); ++n) {
    EXPECT_EQ(Open(absl::string_view(sealed).substr(0, n)).status().code(), absl::StatusCode::kDataLoss) << n;
  }
}

TEST(BytesTest, ATruncatedFileIsCalledSo) {
  const std::string sealed = SealedExample();
  EXPECT_TRUE(IsError(Open(absl::string_view(sealed).substr(0, sealed.size() - 1)).status(),
                      absl::StatusCode::kDataLoss, {"example", "truncated"}));
}

TEST(BytesTest, AppendedBytesAreAnError) {
  EXPECT_EQ(Open(SealedExample() + '\0').status().code(), absl::StatusCode::kDataLoss);
}

TEST(BytesTest, AForeignFileIsNamedAsSuch) {
  const std::string text = "level,x1,x2,y\n0,0.25,0.75,1.5\n1,0.5,0.5,2.5\n";
  EXPECT_TRUE(IsError(Open(text).status(), absl::StatusCode::kDataLoss, {"not a Fidelio checkpoint", "example"}));
}

TEST(BytesTest, AnotherKindIsAnErrorThatNamesBoth) {
  const std::string sealed = ByteWriter().Seal(3, kVersion);
  EXPECT_TRUE(IsError(Open(sealed).status(), absl::StatusCode::kInvalidArgument, {"kind 3", "kind 7", "example"}));
}

TEST(BytesTest, ANewerVersionIsAnErrorThatNamesIt) {
  EXPECT_TRUE(IsError(Open(ByteWriter().Seal(kKind, kVersion + 1)).status(), absl::StatusCode::kInvalidArgument,
                      {"example", "version 3", "1 to 2"}));
}

TEST(BytesTest, VersionZeroIsAnError) {
  EXPECT_EQ(Open(ByteWriter().Seal(kKind, 0)).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(BytesTest, AnOlderVersionIsReportedToTheReader) {
  const absl::StatusOr<ByteReader::Opened> opened = Open(ByteWriter().Seal(kKind, 1));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->version, 1u);
}

TEST(ByteReaderTest, ReadsPastTheEndGiveZerosAndAnError) {
  ByteWriter writer;
  writer.U32(9);
  const std::string sealed = writer.Seal(kKind, kVersion);
  ByteReader reader = ReaderOf(sealed);
  EXPECT_EQ(reader.U64(), 0u);
  EXPECT_EQ(reader.U32(), 0u);  // though these bytes are there
  EXPECT_EQ(reader.F64(), 0);
  EXPECT_EQ(reader.ReadVector().size(), 0);
  EXPECT_EQ(reader.ReadMatrix().size(), 0);
  EXPECT_TRUE(reader.ReadVectors().empty());
  EXPECT_EQ(reader.Finish().code(), absl::StatusCode::kDataLoss);
}

TEST(ByteReaderTest, BytesLeftOverAreAnErrorThatCountsThem) {
  ByteWriter writer;
  writer.U32(9);
  writer.U64(9);
  const std::string sealed = writer.Seal(kKind, kVersion);
  ByteReader reader = ReaderOf(sealed);
  EXPECT_EQ(reader.U32(), 9u);
  EXPECT_TRUE(IsError(reader.Finish(), absl::StatusCode::kDataLoss, {"8 bytes"}));
}

// Counts that no payload of this size can hold: were memory allocated for them, these tests would fail with bad_alloc.
class ImpossibleCountTest : public testing::TestWithParam<uint64_t> {};

TEST_P(ImpossibleCountTest, OfAVectorIsAnErrorWithoutAllocation) {
  ByteWriter writer;
  writer.U64(GetParam());
  writer.F64(1);
  const std::string sealed = writer.Seal(kKind, kVersion);
  ByteReader reader = ReaderOf(sealed);
  EXPECT_EQ(reader.ReadVector().size(), 0);
  EXPECT_FALSE(reader.Finish().ok());
}

TEST_P(ImpossibleCountTest, OfCharactersIsAnErrorWithoutAllocation) {
  ByteWriter writer;
  writer.U64(GetParam());
  writer.Bool(true);
  const std::string sealed = writer.Seal(kKind, kVersion);
  ByteReader reader = ReaderOf(sealed);
  EXPECT_EQ(reader.ReadString(), "");
  EXPECT_FALSE(reader.Finish().ok());
}

TEST_P(ImpossibleCountTest, OfVectorsIsAnErrorWithoutAllocation) {
  ByteWriter writer;
  writer.U64(GetParam());
  writer.F64(1);
  const std::string sealed = writer.Seal(kKind, kVersion);
  ByteReader reader = ReaderOf(sealed);
  EXPECT_TRUE(reader.ReadVectors().empty());
  EXPECT_FALSE(reader.Finish().ok());
}

TEST_P(ImpossibleCountTest, OfRowsOrColumnsIsAnErrorWithoutAllocation) {
  for (const auto& [rows, cols] : {std::pair{GetParam(), uint64_t{1}},
                                   {uint64_t{1}, GetParam()},
                                   {GetParam(), GetParam()},
                                   {uint64_t{1} << 32, uint64_t{1} << 32}}) {
    ByteWriter writer;
    writer.U64(rows);
    writer.U64(cols);
    writer.F64(1);
    const std::string sealed = writer.Seal(kKind, kVersion);
    ByteReader reader = ReaderOf(sealed);
    EXPECT_EQ(reader.ReadMatrix().size(), 0);
    EXPECT_FALSE(reader.Finish().ok());
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, ImpossibleCountTest,
                         testing::Values(2, uint64_t{1} << 20, uint64_t{1} << 40, (uint64_t{1} << 61) + 1,
                                         uint64_t{1} << 63, ~uint64_t{0}));

}  // namespace
}  // namespace fidelio
