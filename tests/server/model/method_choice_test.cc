#include "server/model/method_choice.h"

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

TEST(MethodChoiceTest, AutoTakesMomentsForSmallData) {
  const auto choice = ChooseMethod(ModelKind::kMfDgp, Inference::kAuto, {2000, 10});
  ASSERT_TRUE(choice.ok()) << choice.status();
  EXPECT_EQ(choice->inference, Inference::kMoments);
  EXPECT_EQ(std::string(choice->method->name), "mf_dgp");
}

TEST(MethodChoiceTest, AutoTakesNeighboursForLargeDataAndSaysWhy) {
  const auto choice = ChooseMethod(ModelKind::kMfDgp, Inference::kAuto, {100, 2001, 10});
  ASSERT_TRUE(choice.ok()) << choice.status();
  EXPECT_EQ(choice->inference, Inference::kNeighbours);
  EXPECT_EQ(std::string(choice->method->name), "mf_dgp_neighbours");
  EXPECT_NE(choice->reason.find("level 1 has 2001 observations"), std::string::npos) << choice->reason;
}

TEST(MethodChoiceTest, OnlyTheHighestFidelityCountsForAGp) {
  EXPECT_EQ(ChooseMethod(ModelKind::kGp, Inference::kAuto, {100000, 10})->inference, Inference::kMoments);
  EXPECT_EQ(ChooseMethod(ModelKind::kGp, Inference::kAuto, {10, 100000})->inference, Inference::kNeighbours);
}

TEST(MethodChoiceTest, WhatIsAskedForIsTakenWhateverTheSize) {
  EXPECT_EQ(ChooseMethod(ModelKind::kMfDgp, Inference::kMoments, {100000, 10})->inference, Inference::kMoments);
  EXPECT_EQ(ChooseMethod(ModelKind::kMfDgp, Inference::kNeighbours, {10, 10})->inference, Inference::kNeighbours);
  EXPECT_TRUE(IsError(ChooseMethod(ModelKind::kAr1, Inference::kNeighbours, {10, 10}).status(),
                      absl::StatusCode::kInvalidArgument, {"options.inference", "NEIGHBOURS"}));
}

TEST(MethodChoiceTest, TheClassicModelsAverageOverHyperparametersUnlessThePointEstimateIsAskedFor) {
  for (const ModelKind kind : {ModelKind::kAr1, ModelKind::kAr1Recursive, ModelKind::kNargp, ModelKind::kDeepMf}) {
    const auto by_default = ChooseMethod(kind, Inference::kAuto, {10, 10});
    const auto asked = ChooseMethod(kind, Inference::kPointEstimate, {10, 10});
    ASSERT_TRUE(by_default.ok() && asked.ok()) << by_default.status() << asked.status();
    EXPECT_EQ(by_default->inference, Inference::kMoments);
    EXPECT_EQ(asked->inference, Inference::kPointEstimate);
    EXPECT_EQ(by_default->method, asked->method);
  }
}

TEST(MethodChoiceTest, AKindThatThereIsNotHasNoInference) {
  EXPECT_TRUE(IsError(ChooseMethod(ModelKind{1000}, Inference::kAuto, {10}).status(),
                      absl::StatusCode::kInvalidArgument, {"a model of kind unknown (1000)"}));
  EXPECT_FALSE(LearnsFromHighestOnly(ModelKind{1000}));
}

// "mf-dgp" for "MF_DGP", as clients write it.
std::string WordOf(std::string name) {
  for (char& c : name) c = c == '_' ? '-' : absl::ascii_tolower(c);
  return "`" + name + "`";
}

std::string MethodTable() {
  std::string table = "| kind | inference | maturity | `auto` takes it | options |\n|---|---|---|---|---|\n";
  for (const auto& [method, use] : SupportedMethods()) {
    std::string options;
    for (const MethodOption& option : method->options) {
      absl::StrAppend(&options, options.empty() ? "" : ", ", "`", option.name, "`");
    }
    absl::StrAppend(&table, "| ", WordOf(use->kind_name), " | ", WordOf(use->inference_name), " | ",
                    method->maturity == Maturity::kStable ? "stable" : "experimental", " | ",
                    use->auto_rule ? use->auto_rule->when : "–", " | ", options.empty() ? "–" : options, " |\n");
  }
  return table;
}

std::string OptionTable() {
  std::set<std::string> rows;
  for (const auto& [method, use] : SupportedMethods()) {
    for (const MethodOption& option : method->options) {
      rows.insert(absl::StrFormat("| `%s` | %s | %s | %.15g to %.15g | %s |\n", option.name,
                                  WordOf(use->inference_name), option.help, option.least, option.most,
                                  option.standard));
    }
  }
  return "| option | of | what it is | range | default |\n|---|---|---|---|---|\n" + absl::StrJoin(rows, "");
}

TEST(MethodChoiceTest, TheModelGuideHasTheTablesOfTheRegistry) {
  std::ifstream file(FIDELIO_GOLDEN_DIRECTORY "/../../deploy/docs/models.md");
  const std::string guide{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (const std::string& table : {MethodTable(), OptionTable()}) {
    EXPECT_TRUE(absl::StrContains(guide, table)) << "deploy/docs/models.md should have the table\n" << table;
  }
}

}  // namespace
}  // namespace fidelio
