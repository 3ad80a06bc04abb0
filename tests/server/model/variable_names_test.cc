// Names, units and descriptions of inputs and output: their rules, and that they last.
#include "server/model/variable_names.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/model/codec.h"
#include "tests/server/model/golden.h"
#include "tests/server/model/service_testing.h"

namespace fidelio {
namespace {

ModelSpec NamedSpec() {
  ModelSpec spec = SpecOf(0, 2);
  spec.inputs = {{.name = "thickness", .unit = "mm", .description = "of the plate"}, {.name = "load", .unit = "kN"}};
  spec.output = VariableSpec{.name = "deflection", .unit = "mm"};
  spec.keep_revisions = 5;
  return spec;
}

void ExpectNames(const ModelSpec& spec) {
  EXPECT_EQ(spec.input_dimension, 2);
  ASSERT_EQ(spec.inputs.size(), 2u);
  EXPECT_EQ(spec.inputs[0].name, "thickness");
  EXPECT_EQ(spec.inputs[0].unit, "mm");
  EXPECT_EQ(spec.inputs[0].description, "of the plate");
  EXPECT_EQ(spec.inputs[1].name, "load");
  ASSERT_TRUE(spec.output.has_value());
  EXPECT_EQ(spec.output->name, "deflection");
  EXPECT_EQ(spec.output->unit, "mm");
  EXPECT_EQ(spec.keep_revisions, 5);
}

absl::Status Refusal(const std::function<void(ModelSpec&)>& change) {
  ModelSpec spec = NamedSpec();
  spec.input_dimension = 2;
  change(spec);
  return ValidateVariables(spec);
}

TEST(VariableNamesTest, BadNamesAreRefusedWithFieldValueAndRule) {
  const auto bad = absl::StatusCode::kInvalidArgument;
  ASSERT_TRUE(Refusal([](ModelSpec&) {}).ok());
  for (const std::string& name : std::vector<std::string>{"", "my name", "1st", "-x", "größe", std::string(64, 'a')}) {
    EXPECT_TRUE(IsError(Refusal([&](ModelSpec& s) { s.inputs[1].name = name; }), bad,
                        {"model.inputs[1].name: \"", ", want [A-Za-z_][A-Za-z0-9_.-]{0,62}"}))
        << name;
  }
  for (const std::string& name : std::vector<std::string>{"_", "T.in-1", std::string(63, 'a')}) {
    EXPECT_TRUE(Refusal([&](ModelSpec& s) { s.inputs[1].name = name; }).ok()) << name;
  }
  for (const char* name : {"fidelity", "level", "y", "noise_variance", "run_id"}) {
    EXPECT_TRUE(IsError(Refusal([&](ModelSpec& s) { s.inputs[0].name = name; }), bad,
                        {absl::StrCat("model.inputs[0].name: \"", name, "\""), "want a name other than"}));
  }
  EXPECT_TRUE(
      IsError(Refusal([](ModelSpec& s) { s.output->name = "run_id"; }), bad, {"model.outputs[0].name", "run_id"}));
  EXPECT_TRUE(Refusal([](ModelSpec& s) { s.output->name = "y"; }).ok());
  EXPECT_TRUE(IsError(Refusal([](ModelSpec& s) { s.inputs[1].name = "deflection"; }), bad,
                      {"model.inputs[1].name: \"deflection\" is the name of the output"}));
  EXPECT_TRUE(IsError(Refusal([](ModelSpec& s) { s.inputs[1].name = "thickness"; }), bad,
                      {"model.inputs[1].name: \"thickness\" is the name of another input"}));
}

TEST(VariableNamesTest, LongTextsAndWrongNumbersAreRefused) {
  const auto bad = absl::StatusCode::kInvalidArgument;
  EXPECT_TRUE(Refusal([](ModelSpec& s) { s.inputs[0].unit = std::string(64, 'u'); }).ok());
  EXPECT_TRUE(IsError(Refusal([](ModelSpec& s) { s.inputs[0].unit = std::string(65, 'u'); }), bad,
                      {"model.inputs[0].unit: 65 bytes, want at most 64"}));
  EXPECT_TRUE(IsError(Refusal([](ModelSpec& s) { s.output->description = std::string(1025, 'u'); }), bad,
                      {"model.outputs[0].description: 1025 bytes, want at most 1024"}));
  EXPECT_TRUE(IsError(Refusal([](ModelSpec& s) { s.input_dimension = 3; }), bad,
                      {"model.inputs: 2 inputs, but input_dimension is 3"}));
}

class NamedModelTest : public ::testing::Test {
 protected:
  TempDirectory directory_;
};

TEST_F(NamedModelTest, NamesSurviveARestartAndGiveTheDimension) {
  {
    Server server(directory_.path());
    const auto made = server->CreateModel(Request(), "plate", NamedSpec());
    ASSERT_TRUE(made.ok()) << made.status();
    ExpectNames(made->spec);
  }
  Server server(directory_.path());
  ExpectNames(server->GetModel("plate")->spec);
}

TEST_F(NamedModelTest, NamesMayBeUpdatedAndClearedButNotTheirNumber) {
  Server server(directory_.path());
  ASSERT_TRUE(server->CreateModel(Request(), "plate", NamedSpec()).ok());
  const std::vector<VariableSpec> renamed = {{.name = "t"}, {.name = "f", .unit = "N"}};
  const auto updated = server->UpdateModel(Request(), "plate", "", {.inputs = renamed, .keep_revisions = 7});
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->spec.inputs[1].name, "f");
  EXPECT_EQ(updated->spec.output->name, "deflection");
  EXPECT_EQ(updated->spec.keep_revisions, 7);
  EXPECT_TRUE(IsError(
      server->UpdateModel(Request(), "plate", "", {.inputs = std::vector<VariableSpec>{{.name = "t"}}}).status(),
      absl::StatusCode::kInvalidArgument, {"model.inputs: 1 inputs, but input_dimension is 2"}));
  EXPECT_TRUE(IsError(server->UpdateModel(Request(), "plate", "", {.keep_revisions = 1'000'001}).status(),
                      absl::StatusCode::kInvalidArgument, {"model.keep_revisions: 1000001, want 0 to 1000000"}));
  const auto cleared = server->UpdateModel(
      Request(), "plate", "", {.inputs = std::vector<VariableSpec>{}, .output = std::optional<VariableSpec>()});
  ASSERT_TRUE(cleared.ok()) << cleared.status();
  EXPECT_TRUE(cleared->spec.inputs.empty());
  EXPECT_FALSE(cleared->spec.output.has_value());
  EXPECT_EQ(cleared->spec.input_dimension, 2);
}

TEST_F(NamedModelTest, AnExportCarriesTheNames) {
  const TempDirectory elsewhere;
  Server from(directory_.path()), to(elsewhere.path());
  ASSERT_TRUE(from->CreateModel(Request(), "plate", NamedSpec()).ok());
  const auto imported = ImportBytes(to.service(), ExportBytes(from.service(), "plate"));
  ASSERT_TRUE(imported.ok()) << imported.status();
  ExpectNames(imported->spec);
}

TEST_F(NamedModelTest, ExportsOfOlderVersionsHaveNoNamesAndLoad) {
  Server server(directory_.path());
  for (const char* version : {"v1", "v2", "v3", "v4"}) {
    const std::string file = absl::StrCat(FIDELIO_GOLDEN_DIRECTORY, "/", version, "/", golden::kExport);
    const auto imported = ImportBytes(server.service(), golden::ReadFile(file), absl::StrCat("old-", version));
    ASSERT_TRUE(imported.ok()) << imported.status();
    EXPECT_TRUE(imported->spec.inputs.empty());
    EXPECT_FALSE(imported->spec.output.has_value());
    EXPECT_EQ(imported->spec.keep_revisions, 0);
  }
}

TEST(VariableNamesTest, RememberedAnswersComeBackWithNamesAndCounts) {
  ModelInfo info;
  info.name = "plate";
  info.spec = NamedSpec();
  info.spec.input_dimension = 2;
  info.withdrawn_count = 4;
  info.current_revision_withdrawn_count = 3;
  const auto back = Decode<ModelInfo>(Encode(info));
  ASSERT_TRUE(back.ok()) << back.status();
  ExpectNames(back->spec);
  EXPECT_EQ(back->withdrawn_count, 4);
  EXPECT_EQ(back->current_revision_withdrawn_count, 3);
}

TEST(VariableNamesTest, AStoredSpecWithAnotherNumberOfNamesIsDamage) {
  StoredSpec stored;
  stored.spec = NamedSpec();
  stored.spec.input_dimension = 3;
  stored.noise = {LevelNoise::kNoData, LevelNoise::kNoData};
  EXPECT_TRUE(IsError(Decode<StoredSpec>(Encode(stored)).status(), absl::StatusCode::kDataLoss, {"description"}));
}

}  // namespace
}  // namespace fidelio
