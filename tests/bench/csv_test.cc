#include "tests/bench/csv.h"

#include <filesystem>
#include <string>

#include "gtest/gtest.h"

namespace fidelio::bench {
namespace {

std::string TempFile(const char* name) { return testing::TempDir() + "/fidelio_csv_test_" + name; }

// The message of reading this text as training data.
std::string TrainError(const std::string& text) {
  const std::string path = TempFile("bad.csv");
  EXPECT_TRUE(WriteFile(path, text).ok());
  const std::string message(ReadTrain(path).status().message());
  return message.substr(message.find("bad.csv"));
}

TEST(CsvTest, FilesAreWrittenIntoDirectoriesThatAreMade) {
  const std::string directory = TempFile("made");
  std::filesystem::remove_all(directory);
  const std::string path = directory + "/deeper/file.csv";
  EXPECT_TRUE(CheckWritable(path).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(WriteFile(path, "text").ok());
  EXPECT_TRUE(CheckWritable(path).ok());
  EXPECT_EQ(std::filesystem::file_size(path), 4u) << "what is there stays";
  const absl::Status below_a_file = CheckWritable(path + "/no.csv");
  EXPECT_NE(below_a_file.message().find("cannot be written: Not a directory"), std::string::npos) << below_a_file;
  EXPECT_FALSE(WriteFile(path + "/no.csv", "text").ok());
}

TEST(CsvTest, TrainingDataIsReadBackBitForBitWithItsEmptyLevel) {
  Dataset data;
  data.levels.resize(3);
  data.levels[0].x = Matrix{{0.1, 1.0 / 3}, {1e-300, -2e17}};
  data.levels[0].y = Vector{{3.141592653589793, -0.0}};
  data.levels[1].x.resize(0, 2);
  data.levels[2].x = Matrix{{1, 2}};
  data.levels[2].y = Vector{{5}};
  const std::string path = TempFile("train.csv");
  ASSERT_TRUE(WriteTrain(data, path).ok());
  const absl::StatusOr<Dataset> read = ReadTrain(path);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->levels.size(), 3u);
  for (int t = 0; t < 3; ++t) {
    EXPECT_EQ(read->levels[t].x, data.levels[t].x);
    EXPECT_EQ(read->levels[t].y, data.levels[t].y);
  }
}

TEST(CsvTest, TestDataIsReadBack) {
  LevelData test;
  test.x = Matrix{{0.25}, {0.5}};
  test.y = Vector{{1, 2}};
  const std::string path = TempFile("test.csv");
  ASSERT_TRUE(WriteTest(test, path).ok());
  const absl::StatusOr<LevelData> read = ReadTest(path);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->x, test.x);
  EXPECT_EQ(read->y, test.y);
}

TEST(CsvTest, WhatIsWrongIsNamedWithItsPlace) {
  EXPECT_EQ(TrainError(""), "bad.csv: empty, no header");
  EXPECT_EQ(TrainError("level,x1\n0,1\n"), "bad.csv: header \"level,x1\", must be level,x1..xd,y");
  EXPECT_EQ(TrainError("level,x1,y\n"), "bad.csv: no rows");
  EXPECT_EQ(TrainError("level,x1,y\n0,1,2\n0,one,2\n"), "bad.csv:3: \"one\" must be a finite number");
  EXPECT_EQ(TrainError("level,x1,y\n0,1,nan\n"), "bad.csv:2: \"nan\" must be a finite number");
  EXPECT_EQ(TrainError("level,x1,y\n0,1\n"), "bad.csv:2: 2 columns, but the header has 3");
  EXPECT_EQ(TrainError("level,x1,y\n0.5,1,2\n"), "bad.csv: level 0.5 must be an integer from 0 to 99");
  EXPECT_EQ(ReadTrain(TempFile("missing.csv")).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace fidelio::bench
