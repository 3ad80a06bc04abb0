#include "client/cli/tables.h"

#include "absl/strings/str_cat.h"
#include "client/cli/csv.h"
#include "gtest/gtest.h"
#include "tests/support/status.h"

namespace fidelio::cli {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

v1::Model Wing(int inputs = 2, const std::vector<std::string>& fidelities = {"low", "high"}) {
  v1::Model model;
  model.set_name("models/wing");
  model.set_input_dimension(inputs);
  for (const std::string& name : fidelities) model.add_fidelities()->set_name(name);
  return model;
}

CsvTable Table(const std::string& text) { return *CsvTable::Parse("runs.csv", text); }

absl::Status ReadError(const std::string& text, const v1::Model& model = Wing(), std::optional<int> level = {}) {
  return ReadObservations(Table(text), model, level).status();
}

TEST(TablesTest, ObservationsAreSortedByLevelWithColumnsInAnyOrder) {
  const auto read = ReadObservations(Table("y,fidelity,x2,x1\n1,high,2,3\n4,low,5,6\n7,high,8,9\n"), Wing(), {});
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->batches.size(), 2u);
  EXPECT_EQ(read->batches[0].level, 0);
  EXPECT_EQ(read->batches[0].inputs, (Eigen::MatrixXd(1, 2) << 6, 5).finished());
  EXPECT_EQ(read->batches[1].level, 1);
  EXPECT_EQ(read->batches[1].inputs, (Eigen::MatrixXd(2, 2) << 3, 2, 9, 8).finished());
  EXPECT_EQ(read->batches[1].outputs, Eigen::Vector2d(1, 7));
  EXPECT_EQ(read->batches[1].noise_variances.size(), 0);
  EXPECT_EQ(read->rows, (std::vector<std::vector<int>>{{1}, {0, 2}}));
}

TEST(TablesTest, LevelsMayBeNumbersOrGivenForTheFileOrNotNeeded) {
  EXPECT_EQ(ReadObservations(Table("level,x1,x2,y\n1,2,3,4\n"), Wing(), {})->batches[0].level, 1);
  EXPECT_EQ(ReadObservations(Table("x1,x2,y\n2,3,4\n"), Wing(), 1)->batches[0].level, 1);
  EXPECT_EQ(ReadObservations(Table("x1,x2,y\n2,3,4\n"), Wing(2, {"only"}), {})->batches[0].level, 0);
}

TEST(TablesTest, NoiseIsAVariance) {
  EXPECT_EQ(ReadObservations(Table("x1,y,noise\n2,3,0.25\n"), Wing(1, {"only"}), {})->batches[0].noise_variances[0],
            0.25);
  EXPECT_TRUE(IsError(ReadError("x1,y,noise\n2,3,-1\n", Wing(1, {"only"})), kInvalid,
                      {"runs.csv: row 2, column noise: -1, but a variance is at least 0"}));
}

TEST(TablesTest, HeadersThatDoNotFitTheModelAreExplained) {
  EXPECT_TRUE(IsError(ReadError("level,x1,y\n0,1,2\n"), kInvalid,
                      {"header: no column x2, but model \"wing\" has 2 inputs: x1, x2"}));
  EXPECT_TRUE(IsError(ReadError("level,x1,x2,x3,y\n0,1,2,3,4\n"), kInvalid, {"header: column x3, but model \"wing\""}));
  EXPECT_TRUE(IsError(ReadError("x1,x2,y\n1,2,3\n"), kInvalid,
                      {"no column level or fidelity", "low (0), high (1)", "--level"}));
  EXPECT_TRUE(IsError(ReadError("level,x1,x2\n0,1,2\n"), kInvalid, {"header: no column y"}));
  EXPECT_TRUE(IsError(ReadError("level,x1,x2,y,speed\n0,1,2,3,4\n"), kInvalid, {"header: unknown column speed"}));
  EXPECT_TRUE(IsError(ReadError("level,fidelity,x1,x2,y\n0,low,1,2,3\n"), kInvalid, {"level and fidelity"}));
  EXPECT_TRUE(IsError(ReadError("level,x1,x2,y\n0,1,2,3\n", Wing(), 1), kInvalid, {"--level is given as well"}));
  for (const char* odd : {"x0", "x01", "x+3", "x", "X3"}) {
    EXPECT_TRUE(IsError(ReadError(std::string("level,x1,x2,y,") + odd + "\n0,1,2,3,4\n"), kInvalid,
                        {std::string("unknown column ") + odd}));
  }
}

TEST(TablesTest, WrongFieldsAreNamed) {
  EXPECT_TRUE(IsError(ReadError("level,x1,x2,y\n0,1,2,3\n0,1,abc,3\n"), kInvalid,
                      {"runs.csv: row 3, column x2: \"abc\" is not a number"}));
  EXPECT_TRUE(IsError(ReadError("level,x1,x2,y\n2,1,2,3\n"), kInvalid,
                      {"runs.csv: row 2, column level: \"2\" is not a fidelity of model \"wing\", which has low (0), "
                       "high (1)"}));
  EXPECT_TRUE(IsError(ReadError("fidelity,x1,x2,y\nmid,1,2,3\n"), kInvalid, {"column fidelity: \"mid\""}));
}

TEST(TablesTest, InputsAreReadWhateverElseThereIs) {
  const auto inputs = ReadInputs(Table("name,x2,x1\na,1,2\nb,3,4\n"), Wing());
  ASSERT_TRUE(inputs.ok()) << inputs.status();
  EXPECT_EQ(*inputs, (Eigen::MatrixXd(2, 2) << 2, 1, 4, 3).finished());
  EXPECT_TRUE(IsError(ReadInputs(Table("x1\n1\n"), Wing()).status(), kInvalid, {"no column x2"}));
  EXPECT_TRUE(IsError(ReadColumn(Table("x1\n1\n"), "y").status(), kInvalid, {"no column y"}));
}

v1::Model Plate() {
  v1::Model model = Wing();
  model.set_name("models/plate");
  model.add_inputs()->set_name("thickness");
  model.add_inputs()->set_name("load");
  model.add_outputs()->set_name("deflection");
  return model;
}

TEST(TablesTest, ColumnsGoByTheModelsNamesInAnyOrder) {
  for (const char* output : {"deflection", "y"}) {
    const auto read =
        ReadObservations(Table(absl::StrCat("load,", output, ",fidelity,thickness\n20,7,high,0.5\n")), Plate(), {});
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->batches[0].inputs, (Eigen::MatrixXd(1, 2) << 0.5, 20).finished());
    EXPECT_EQ(read->batches[0].outputs[0], 7);
  }
  EXPECT_EQ(*ReadInputs(Table("load,thickness\n20,0.5\n"), Plate()), (Eigen::MatrixXd(1, 2) << 0.5, 20).finished());
  EXPECT_EQ(*ReadOutputs(Table("load,deflection\n20,0.5\n"), Plate()), Eigen::VectorXd::Constant(1, 0.5));
}

TEST(TablesTest, UnknownAndMissingColumnsAreRefusedWithTheNamesToExpect) {
  EXPECT_TRUE(IsError(ReadError("level,thick,load,y\n0,1,2,3\n", Plate()), kInvalid,
                      {"runs.csv: header: unknown column thick; columns are level or fidelity, thickness, load, "
                       "deflection or y and, if known, noise_variance or noise"}));
  EXPECT_TRUE(IsError(ReadError("level,load,y\n0,2,3\n", Plate()), kInvalid,
                      {"header: no column thickness, but model \"plate\" has 2 inputs: thickness, load"}));
  EXPECT_TRUE(IsError(ReadError("level,thickness,load\n0,2,3\n", Plate()), kInvalid,
                      {"header: no column deflection or y, the observed outputs"}));
  EXPECT_TRUE(IsError(ReadError("level,thickness,load,y,deflection\n0,2,3,4,4\n", Plate()), kInvalid,
                      {"columns deflection and y"}));
  EXPECT_TRUE(IsError(ReadInputs(Table("thickness\n1\n"), Plate()).status(), kInvalid, {"no column load"}));
  // x1 and x2 mean positions that this model does not have.
  EXPECT_TRUE(IsError(ReadError("level,x1,x2,y\n0,1,2,3\n", Plate()), kInvalid, {"no column thickness"}));
  EXPECT_TRUE(IsError(ReadInputs(Table("thickness,load,x1\n1,2,3\n"), Plate()).status(), kInvalid,
                      {"column x1, but model \"plate\" has 2 inputs: thickness, load"}));
}

TEST(TablesTest, AnInputMayBeCalledNoise) {
  v1::Model model = Plate();
  model.mutable_inputs(1)->set_name("noise");
  const auto read = ReadObservations(Table("level,noise,thickness,y,noise_variance\n0,20,0.5,7,0.25\n"), model, {});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->batches[0].inputs, (Eigen::MatrixXd(1, 2) << 0.5, 20).finished());
  EXPECT_EQ(read->batches[0].noise_variances[0], 0.25);
  EXPECT_TRUE(IsError(ReadError("level,thickness,load,y,noise,noise_variance\n0,1,2,3,4,5\n", Plate()), kInvalid,
                      {"columns noise_variance and noise"}));
}

TEST(TablesTest, ColumnsWithoutNamesGetTheModelsByPosition) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(*NameObservationColumns(Plate(), {})(5),
            (Names{"level", "thickness", "load", "deflection", "noise_variance"}));
  EXPECT_EQ(*NameObservationColumns(Plate(), 1)(3), (Names{"thickness", "load", "deflection"}));
  EXPECT_EQ(*NameInputColumns(Plate())(2), (Names{"thickness", "load"}));
  EXPECT_EQ(*NameInputColumns(Wing())(3), (Names{"x1", "x2", "y"}));
  EXPECT_TRUE(IsError(NameInputColumns(Plate())(5).status(), kInvalid, {"5 columns", "\"plate\" has 2 inputs"}));
}

TEST(TablesTest, TheServersErrorsPointIntoFilesWithNames) {
  const CsvTable table = Table("level,load,thickness,deflection\n0,1,2,3\n");
  const auto read = ReadObservations(table, Plate(), {});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(InTermsOfFile(absl::InvalidArgumentError("observations[0].inputs: element [0, 1] is odd"), table, *read)
                .message(),
            "runs.csv: row 2, column load: is odd");
  EXPECT_EQ(InTermsOfFile(absl::InvalidArgumentError("observations[0].outputs: element [0, 0] is odd"), table, *read)
                .message(),
            "runs.csv: row 2, column deflection: is odd");
}

TEST(TablesTest, TheServersErrorsAboutIdsPointIntoTheFile) {
  const CsvTable table = Table("run_id,level,x1,x2,y\na,1,1,2,3\nb,0,1,2,3\nc,1,1,2,-3\n");
  const auto read = ReadObservations(table, Wing(), {});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->batches[1].run_ids, (std::vector<std::string>{"a", "c"}));
  const absl::Status status = InTermsOfFile(
      absl::AbortedError("models/wing: observations[1].run_ids[1]: \"c\" is in use with another output"), table, *read);
  EXPECT_TRUE(absl::IsAborted(status));
  EXPECT_EQ(status.message(), "runs.csv: row 4, column run_id: \"c\" is in use with another output");
  for (const char* other : {"observations[9].run_ids[0]: odd", "observations[0].run_ids[5]: odd"}) {
    EXPECT_EQ(InTermsOfFile(absl::AbortedError(other), table, *read).message(), other);
  }
}

TEST(TablesTest, OutputsThatWereNotFilledInAreCounted) {
  EXPECT_TRUE(IsError(ReadError("level,x1,x2,y\n0,1,2,3\n0,4,5,\n1,6,7,\n"), kInvalid,
                      {"runs.csv: row 3, column y: empty, must be the output of this run; 2 rows have no output"}));
}

TEST(TablesTest, TheServersErrorsPointIntoTheFile) {
  const CsvTable table = Table("level,x1,x2,y\n1,1,2,3\n0,1,2,3\n1,1,2,-3\n");
  const auto read = ReadObservations(table, Wing(), {});
  ASSERT_TRUE(read.ok());
  const auto translate = [&](const char* message) {
    return std::string(InTermsOfFile(absl::InvalidArgumentError(message), table, *read).message());
  };
  EXPECT_EQ(translate("observations[1].outputs: element [1, 0] is -3, must be above 0"),
            "runs.csv: row 4, column y: is -3, must be above 0");
  EXPECT_EQ(translate("observations[0].inputs: element [0, 1] is odd"), "runs.csv: row 3, column x2: is odd");
  EXPECT_EQ(translate("observations[0].inputs: 3 columns"), "runs.csv: inputs: 3 columns");
  EXPECT_EQ(translate("observations[0].noise_variances: given, but"), "runs.csv: column noise_variance: given, but");
  for (const char* other : {"observations[9].inputs: element [0, 1] is odd",
                            "observations[0].inputs: element [5, 0] is odd", "something: else"}) {
    EXPECT_EQ(translate(other), other);
  }
}

}  // namespace
}  // namespace fidelio::cli
